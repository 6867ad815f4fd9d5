"""Jobs after their last attempt: buried together with the turns they could not learn from, and brought back with them.

A buried turn is not offered again by the next job of its conversation: one turn that a model cannot digest must not
keep everything said after it from being learned.
"""

from __future__ import annotations

from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.lifecycle.kinds import EXTRACT
from memproxy.model import Job
from memproxy.store import jobs, turns


async def bury(conn: Connection, job: Job, reason: str) -> None:
    """Mark a job and its turns as dead. `reason` is a word, never content."""
    if await jobs.bury(conn, job, reason) and job.kind == EXTRACT and job.session_id is not None:
        pending = await turns.pending(conn, job.entity, job.session_id, job.credential)
        await turns.set_learn(conn, job.entity, [turn.id for turn in pending], "dead")


async def bring_back(conn: Connection, job_id: str, now: datetime) -> bool:
    """Let a dead job run again, now, with its turns; whether there was one."""
    job = await jobs.get(conn, job_id)
    if job is None or not await jobs.replay(conn, job_id, now):
        return False
    if job.kind == EXTRACT and job.session_id is not None:
        await turns.revive(conn, job.entity, job.session_id)
    return True
