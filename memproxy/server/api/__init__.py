"""The management API under /memproxy/: a page a route, errors as RFC 9457 problem details.

Paths are matched as they were sent and percent-decoded once, so that an entity may be called "a/b" (as `a%2Fb`).
"""

from __future__ import annotations

from starlette.types import ASGIApp

from memproxy.server.access import Access
from memproxy.server.api import entities, facts, process, turns
from memproxy.server.api.application import application
from memproxy.server.api.call import Handler
from memproxy.server.parts import Parts

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/memproxy/health", process.health),
    ("GET", "/memproxy/ready", process.ready),
    ("GET", "/memproxy/metrics", process.metrics),
    ("POST", "/memproxy/v1/flush", process.flush),
    ("GET", "/memproxy/v1/jobs", process.list_jobs),
    ("POST", "/memproxy/v1/jobs/{job}/retry", process.retry_job),
    ("GET", "/memproxy/v1/receipts/{request_id}", process.get_receipt),
    ("GET", "/memproxy/v1/entities", entities.list_entities),
    ("GET", "/memproxy/v1/entities/{entity}", entities.get_entity),
    ("DELETE", "/memproxy/v1/entities/{entity}", entities.erase_entity),
    ("GET", "/memproxy/v1/entities/{entity}/context", entities.context),
    ("GET", "/memproxy/v1/entities/{entity}/search", entities.search),
    ("GET", "/memproxy/v1/entities/{entity}/facts", facts.list_facts),
    ("POST", "/memproxy/v1/entities/{entity}/facts", facts.create_fact),
    ("GET", "/memproxy/v1/entities/{entity}/facts/{fact}", facts.get_fact),
    ("PATCH", "/memproxy/v1/entities/{entity}/facts/{fact}", facts.patch_fact),
    ("DELETE", "/memproxy/v1/entities/{entity}/facts/{fact}", facts.delete_fact),
    ("GET", "/memproxy/v1/entities/{entity}/turns", turns.list_turns),
    ("POST", "/memproxy/v1/entities/{entity}/turns", turns.import_turns),
    ("DELETE", "/memproxy/v1/entities/{entity}/turns/{turn}", turns.delete_turn),
)


def build_api(parts: Parts, access: Access) -> ASGIApp:
    """The ASGI application of everything under /memproxy/ but the proxied `as/{entity}`."""
    return application(ROUTES, parts, access)
