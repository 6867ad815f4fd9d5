"""The process: is it there, does memory work, what does it do in the background, what went into a request."""

from __future__ import annotations

from starlette.responses import Response

from memproxy import __version__
from memproxy.errors import Problem
from memproxy.lifecycle.dead_letters import bring_back
from memproxy.model import JobState
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER, LIMIT, TIMEOUT, Choices
from memproxy.store import jobs, receipts

STATE = Choices("state", "Jobs in these states; all of them if none is named.", JobState)


async def health(call: Call) -> Response:
    """The process answers."""
    return answer({"status": "ok", "version": __version__})


async def ready(call: Call) -> Response:
    """Whether memory works, and why not; 503 only while draining."""
    state = await call.parts.readiness()
    return answer(state, 503 if call.parts.draining else 200)


async def metrics(call: Call) -> Response:
    """Prometheus metrics."""
    await call.parts.measure()
    return Response(call.parts.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def flush(call: Call) -> Response:
    """Run debounced jobs now; answer when background work is idle."""
    progress = await call.parts.flush(call.get(TIMEOUT))
    return answer({"idle": progress.idle, "pending": progress.pending, "dead": progress.dead})


async def list_jobs(call: Call) -> Response:
    """Background jobs, newest first."""
    states, limit, after = call.get(STATE), call.get(LIMIT), call.get(AFTER)
    rows = await call.parts.db.read(
        lambda conn: jobs.list_jobs(conn, states=states, limit=limit, after=after[0] if after else None)
    )
    place = rows[-1].id if len(rows) == limit else None
    return answer({"items": [views.job(row) for row in rows], "next_cursor": place})


async def retry_job(call: Call) -> Response:
    """Bring a dead job back."""
    job_id, now = call.segment("job"), call.parts.clock.now()
    if not await call.parts.db.write(lambda conn: bring_back(conn, job_id, now)):
        raise Problem(404, "No such dead job")
    call.parts.worker.wake()
    return answer({"retried": 1})


async def get_receipt(call: Call) -> Response:
    """What was injected into a request; 404 outside the caller's scope."""
    request_id = call.segment("request_id")
    found = await call.parts.db.read(lambda conn: receipts.get(conn, request_id))
    if found is None or not call.caller.may_name(found.entity.name):
        raise Problem(404, "No such receipt", "Receipts are kept for receipts.days, and go with what they quote.")
    return answer(views.receipt(found))
