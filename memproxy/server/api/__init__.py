"""The management API under /memproxy/: a page a route, errors as RFC 9457 problem details.

Paths are matched as they were sent and percent-decoded once, so that an entity may be called "a/b" (as `a%2Fb`).
"""

from __future__ import annotations

from starlette.types import ASGIApp

from memproxy.assembly.parts import Parts
from memproxy.server.access import Access
from memproxy.server.api import (
    disputes,
    entities,
    export,
    facts,
    overview,
    page,
    process,
    profile,
    summaries,
    turns,
    watching,
    wishes,
)
from memproxy.server.api.application import application
from memproxy.server.api.call import Handler

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/memproxy", page.to_index),
    ("GET", "/memproxy/", page.index),
    ("GET", "/memproxy/web/{file}", page.file),
    ("GET", "/memproxy/health", process.health),
    ("GET", "/memproxy/ready", process.ready),
    ("GET", "/memproxy/metrics", process.metrics),
    ("GET", "/memproxy/v1/stats", watching.stats),
    ("GET", "/memproxy/v1/live", watching.live),
    ("POST", "/memproxy/v1/flush", process.flush),
    ("GET", "/memproxy/v1/jobs", process.list_jobs),
    ("POST", "/memproxy/v1/jobs/{job}/retry", process.retry_job),
    ("GET", "/memproxy/v1/receipts/{request_id}", process.get_receipt),
    ("GET", "/memproxy/v1/entities", entities.list_entities),
    ("GET", "/memproxy/v1/entities/{entity}", entities.get_entity),
    ("GET", "/memproxy/v1/entities/{entity}/usage", entities.get_usage),
    ("DELETE", "/memproxy/v1/entities/{entity}", entities.erase_entity),
    ("GET", "/memproxy/v1/entities/{entity}/context", entities.context),
    ("GET", "/memproxy/v1/entities/{entity}/search", entities.search),
    ("GET", "/memproxy/v1/entities/{entity}/sessions", overview.list_sessions),
    ("GET", "/memproxy/v1/entities/{entity}/receipts", overview.list_receipts),
    ("GET", "/memproxy/v1/entities/{entity}/timeline", overview.timeline),
    ("GET", "/memproxy/v1/entities/{entity}/growth", overview.growth),
    ("GET", "/memproxy/v1/entities/{entity}/hygiene", overview.get_hygiene),
    ("GET", "/memproxy/v1/entities/{entity}/export", export.export),
    ("POST", "/memproxy/v1/entities/{entity}/import", export.import_file),
    ("GET", "/memproxy/v1/entities/{entity}/facts", facts.list_facts),
    ("POST", "/memproxy/v1/entities/{entity}/facts", facts.create_fact),
    ("GET", "/memproxy/v1/entities/{entity}/facts/{fact}", facts.get_fact),
    ("GET", "/memproxy/v1/entities/{entity}/facts/{fact}/history", facts.get_history),
    ("PATCH", "/memproxy/v1/entities/{entity}/facts/{fact}", facts.patch_fact),
    ("DELETE", "/memproxy/v1/entities/{entity}/facts/{fact}", facts.delete_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/correct", facts.correct_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/confirm", facts.confirm_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/pin", facts.pin_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/unpin", facts.unpin_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/resolve", facts.resolve_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/restore", facts.restore_fact),
    ("POST", "/memproxy/v1/entities/{entity}/facts/{fact}/deny", facts.deny_fact),
    ("POST", "/memproxy/v1/entities/{entity}/notes", facts.create_note),
    ("GET", "/memproxy/v1/entities/{entity}/threads", facts.list_threads),
    ("GET", "/memproxy/v1/entities/{entity}/contradictions", disputes.list_contradictions),
    ("GET", "/memproxy/v1/entities/{entity}/contradictions/counts", disputes.count_contradictions),
    (
        "POST",
        "/memproxy/v1/entities/{entity}/contradictions/{contradiction}/resolve",
        disputes.resolve_contradiction,
    ),
    ("POST", "/memproxy/v1/entities/{entity}/contradictions/{contradiction}/hold", disputes.hold_contradiction),
    ("GET", "/memproxy/v1/entities/{entity}/collisions", disputes.list_collisions),
    ("POST", "/memproxy/v1/entities/{entity}/collisions/{collision}/settle", disputes.settle_collision),
    ("GET", "/memproxy/v1/entities/{entity}/profile", profile.get_profile),
    ("GET", "/memproxy/v1/entities/{entity}/profile/history", profile.get_history),
    ("PATCH", "/memproxy/v1/entities/{entity}/profile", profile.patch_profile),
    ("GET", "/memproxy/v1/entities/{entity}/denied", wishes.list_denied),
    ("POST", "/memproxy/v1/entities/{entity}/denied", wishes.deny_text),
    ("DELETE", "/memproxy/v1/entities/{entity}/denied/{denied}", wishes.allow),
    ("GET", "/memproxy/v1/entities/{entity}/preferences", wishes.get_preferences),
    ("PUT", "/memproxy/v1/entities/{entity}/preferences", wishes.put_preferences),
    ("GET", "/memproxy/v1/entities/{entity}/turns", turns.list_turns),
    ("POST", "/memproxy/v1/entities/{entity}/turns", turns.import_turns),
    ("DELETE", "/memproxy/v1/entities/{entity}/turns/{turn}", turns.delete_turn),
    ("POST", "/memproxy/v1/entities/{entity}/extract", turns.extract),
    ("GET", "/memproxy/v1/entities/{entity}/summaries", summaries.list_summaries),
    ("DELETE", "/memproxy/v1/entities/{entity}/summaries/{summary}", summaries.delete_summary),
)


def build_api(parts: Parts, access: Access) -> ASGIApp:
    """The ASGI application of everything under /memproxy/ but the proxied `as/{entity}`."""
    return application(ROUTES, parts, access)
