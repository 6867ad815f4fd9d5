"""Background work as rows: leased, retried, coalesced, visible, replayable. Several processes may claim from one store.

An attempt is known by its number: an answer that comes after the lease ran out and another attempt began, or after the
entity was erased, changes nothing (the functions that end an attempt then return False).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, Job, JobState, new_id
from memproxy.store.rows import scoped, to_time, to_time_or_none

_ALL: tuple[JobState, ...] = ("pending", "waiting", "running", "done", "dead")


def from_row(row: Row) -> Job:
    """The single door from the table."""
    return Job(
        id=row["id"],
        entity=Entity(name=row["entity"], tenant=row["tenant"]),
        kind=row["kind"],
        session_id=row["session_id"],
        state=row["state"],
        attempts=row["attempts"],
        run_after=to_time(row["run_after"]),
        error=row["error"],
        credential=row["credential"],
        created_at=to_time(row["created_at"]),
        updated_at=to_time(row["updated_at"]),
    )


async def enqueue(
    conn: Connection,
    entity: Entity,
    kind: str,
    session_id: str | None,
    run_after: datetime,
    credential: str | None,
    now: datetime,
    *,
    hasten: bool = False,
) -> Job:
    """Ask for work; where the same is waiting already, that job is moved to `run_after` (`hasten`: only to earlier).

    A job that is due stays due, and one that waits after a failure keeps its time. One that is being done does not
    count as waiting: what comes meanwhile makes a new job.
    """
    same = await conn.one("jobs_same", **scoped(entity), kind=kind, session_id=session_id, credential=credential)
    if same is None:
        job_id = new_id()
        times = {"run_after": run_after, "now": now}
        await conn.run(
            "jobs_insert", **scoped(entity), id=job_id, kind=kind, session_id=session_id, credential=credential, **times
        )
        return await _get(conn, job_id)
    job = from_row(same)
    movable = job.attempts == 0 and job.state == "pending" and job.run_after > now
    if movable and (run_after < job.run_after or not hasten):
        await conn.run("jobs_reschedule", **scoped(entity), id=job.id, run_after=run_after, now=now)
        return await _get(conn, job.id)
    return job


async def claim(
    conn: Connection, worker: str, now: datetime, lease_seconds: float, credentials: Collection[str] = ()
) -> Job | None:
    """Take the next job that is due, for the time of a lease; None where there is none.

    The one due longest comes first; one whose lease ran out counts as due; one that needs a credential only if that
    is at hand; and never two of one entity at once.
    """
    row = await conn.one("jobs_claimable", now=now, credentials=json.dumps(sorted(credentials)))
    if row is None:
        return None
    job = from_row(row)
    until = now + timedelta(seconds=lease_seconds)
    await conn.run("jobs_start", **scoped(job.entity), id=job.id, worker=worker, lease_until=until, now=now)
    return await _get(conn, job.id)


async def renew(conn: Connection, job: Job, now: datetime, lease_seconds: float) -> bool:
    """Prolong the lease; False where the job is not this attempt's any more (taken over, erased)."""
    until = now + timedelta(seconds=lease_seconds)
    return bool(
        await conn.run("jobs_renew", **scoped(job.entity), id=job.id, attempts=job.attempts, lease_until=until, now=now)
    )


async def finish(conn: Connection, job: Job) -> bool:
    """The work is done; False where the job was not this attempt's any more."""
    return await _end(conn, job, "done", job.run_after, None)


async def retry(conn: Connection, job: Job, run_after: datetime, error: str) -> bool:
    """The attempt failed; try again later. `error` is a reason word, never content."""
    return await _end(conn, job, "pending", run_after, error)


async def postpone(conn: Connection, job: Job, run_after: datetime, error: str) -> bool:
    """The work could not be tried; let it wait, without counting an attempt. Flushing does not hurry it."""
    return await _end(conn, job, "waiting", run_after, error, uncounted=1)


async def bury(conn: Connection, job: Job, error: str) -> bool:
    """The last attempt failed: a dead letter, which can be seen and replayed."""
    return await _end(conn, job, "dead", job.run_after, error)


async def replay(conn: Connection, job_id: str, now: datetime) -> bool:
    """Bring a dead job back, to run now; whether there was one."""
    return await conn.run("jobs_replay", id=job_id, now=now) > 0


async def get(conn: Connection, job_id: str) -> Job | None:
    """One job, of whatever entity."""
    row = await conn.one("jobs_get", id=job_id)
    return None if row is None else from_row(row)


async def list_jobs(
    conn: Connection,
    *,
    states: Sequence[str] | None = None,
    entity: Entity | None = None,
    limit: int = 100,
    after: str | None = None,
) -> list[Job]:
    """Jobs, the newest first, beginning after the one with the given id; of one entity or all, in any state or some."""
    rows = await conn.all(
        "jobs_list",
        tenant=entity.tenant if entity else None,
        entity=entity.name if entity else None,
        states=json.dumps(list(states or _ALL)),
        limit=limit,
        after=after,
    )
    return [from_row(row) for row in rows]


async def counts(conn: Connection) -> dict[str, int]:
    """How many jobs are in each state (states without any are left out)."""
    return {row["state"]: row["jobs"] for row in await conn.all("jobs_counts")}


async def make_all_due(conn: Connection, now: datetime) -> int:
    """Let every pending job run now; how many had to be moved."""
    return await conn.run("jobs_make_due", now=now)


async def runnable(conn: Connection, credentials: Collection[str] = ()) -> bool:
    """Whether a job is being done, or could be with these credentials, now or after its pause."""
    return await conn.one("jobs_runnable", credentials=json.dumps(sorted(credentials))) is not None


async def next_due(conn: Connection) -> datetime | None:
    """When the next job is due or the next lease runs out; None where nothing waits."""
    row = await conn.one("jobs_next_due")
    return to_time_or_none(row["due"]) if row is not None else None


async def prune(conn: Connection, before: datetime) -> int:
    """Remove jobs that were done before a time; how many."""
    return await conn.run("jobs_prune", before=before)


async def _end(
    conn: Connection, job: Job, state: JobState, run_after: datetime, error: str | None, uncounted: int = 0
) -> bool:
    changed = await conn.run(
        "jobs_end",
        **scoped(job.entity),
        id=job.id,
        attempts=job.attempts,
        state=state,
        run_after=run_after,
        error=error,
        uncounted=uncounted,
        now=datetime.now(UTC),
    )
    return changed > 0


async def _get(conn: Connection, job_id: str) -> Job:
    job = await get(conn, job_id)
    assert job is not None  # written in this very transaction
    return job
