"""The management API under /memproxy/: what there is, in one table. Errors are RFC 9457 problem details.

Paths are matched as they were sent and percent-decoded once, so that an entity may be called "a/b" (as `a%2Fb`).
The router, `openapi.json` and the tests read this table; a handler reads no parameter and no body but those named here.
"""

from __future__ import annotations

from starlette.types import ASGIApp

from memproxy.assembly.parts import Parts
from memproxy.server import answers, requests
from memproxy.server.access import Access
from memproxy.server.answers import Page
from memproxy.server.api import (
    describing,
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
from memproxy.server.api.parameters import AFTER, AFTER_DAY, AFTER_NAME, AFTER_TIME, LIMIT, SESSION, TIMEOUT
from memproxy.server.api.route import Media, Route

V1 = "/memproxy/v1"
ENTITY = f"{V1}/entities/{{entity}}"
FACT = f"{ENTITY}/facts/{{fact}}"

HTML = Media("text/html", "The page.")
FILE = Media("*/*", "A file of the page.")
EXPOSITION = Media("text/plain", "The exposition format of Prometheus.")
NDJSON = Media("application/x-ndjson", "A memory as lines of JSON.")
MARKDOWN = Media("text/markdown", "A memory as a page for reading.")
UPLOAD = Media("application/octet-stream", "A file as it is.")
DOCUMENT = Media("application/json", "An OpenAPI 3.1 document.")

ROUTES: tuple[Route, ...] = (
    # The page.
    Route("GET", "/memproxy", page.to_index, None, statuses=(308,)),
    Route("GET", "/memproxy/", page.index, HTML),
    Route("GET", "/memproxy/web/{file}", page.file, FILE, statuses=(200, 304)),
    # The process.
    Route("GET", "/memproxy/health", process.health, answers.Health, public=True),
    Route("GET", "/memproxy/ready", process.ready, answers.Ready, statuses=(200, 503)),
    Route("GET", "/memproxy/metrics", process.metrics, EXPOSITION),
    Route("GET", f"{V1}/openapi.json", describing.document, DOCUMENT),
    Route("GET", f"{V1}/stats", watching.stats, answers.Stats, admin=True),
    Route("GET", f"{V1}/live", watching.live, answers.LiveView, query=watching.LIVE, admin=True),
    Route("POST", f"{V1}/flush", process.flush, answers.Progress, query=(TIMEOUT,), admin=True, same_again=True),
    Route("GET", f"{V1}/jobs", process.list_jobs, Page[answers.Job], query=(process.STATE, LIMIT, AFTER), admin=True),
    Route("POST", f"{V1}/jobs/{{job}}/retry", process.retry_job, answers.Retried, admin=True),
    Route("GET", f"{V1}/receipts/{{request_id}}", process.get_receipt, answers.Receipt),
    # Entities, looked over.
    Route("GET", f"{V1}/entities", entities.list_entities, Page[answers.EntityLine], query=(LIMIT, AFTER_NAME)),
    Route("GET", ENTITY, entities.get_entity, answers.Entity),
    Route("DELETE", ENTITY, entities.erase_entity, answers.Deleted, same_again=True),
    Route("GET", f"{ENTITY}/usage", entities.get_usage, Page[answers.Usage], query=(LIMIT, AFTER_DAY)),
    Route("GET", f"{ENTITY}/context", entities.context, answers.Context, query=(entities.QUERY, entities.EXPLAIN)),
    Route("GET", f"{ENTITY}/search", entities.search, Page[answers.Hit], query=entities.SEARCH),
    Route("GET", f"{ENTITY}/sessions", overview.list_sessions, Page[answers.Session], query=(LIMIT, AFTER_TIME)),
    Route("GET", f"{ENTITY}/sessions/{{session}}", overview.get_session, answers.Session),
    Route("POST", f"{ENTITY}/sessions/{{session}}/close", overview.close_session, answers.Closed),
    Route("GET", f"{ENTITY}/moments", overview.list_moments, Page[answers.Fact], query=(overview.VALENCE, LIMIT)),
    Route("GET", f"{ENTITY}/receipts", overview.list_receipts, Page[answers.ReceiptLine], query=overview.RECEIPTS),
    Route("GET", f"{ENTITY}/timeline", overview.timeline, Page[answers.Happening], query=overview.TIMELINE),
    Route("GET", f"{ENTITY}/growth", overview.growth, answers.Growth, query=(overview.DAYS,)),
    Route("GET", f"{ENTITY}/hygiene", overview.get_hygiene, answers.Hygiene, query=(overview.FIRST,)),
    Route("GET", f"{ENTITY}/export", export.export, (NDJSON, MARKDOWN), query=(export.FORM,), problems=(404,)),
    Route(
        "POST",
        f"{ENTITY}/import",
        export.import_file,
        answers.Imported,
        UPLOAD,
        export.WISH,
        problems=(409,),
        same_again=True,
    ),
    # Facts.
    Route("GET", f"{ENTITY}/facts", facts.list_facts, (Page[answers.Fact], answers.Groups), query=facts.LISTING),
    Route("POST", f"{ENTITY}/facts", facts.create_fact, answers.Fact, requests.FactFields, (), (201,), (409,)),
    Route("POST", f"{ENTITY}/notes", facts.create_note, answers.Fact, requests.NoteFields, (), (201,), (409,)),
    Route("GET", FACT, facts.get_fact, (answers.Fact, answers.Behind), query=(facts.SOURCES,)),
    Route("GET", f"{FACT}/history", facts.get_history, answers.Behind),
    Route("PATCH", FACT, facts.patch_fact, answers.Fact, requests.FactFields, problems=(409,)),
    Route("DELETE", FACT, facts.delete_fact, answers.Deleted, query=(facts.ERASE,)),
    Route("POST", f"{FACT}/correct", facts.correct_fact, answers.Fact, requests.CorrectionFields, problems=(409,)),
    Route("POST", f"{FACT}/confirm", facts.confirm_fact, answers.Fact, problems=(409,)),
    Route("POST", f"{FACT}/pin", facts.pin_fact, answers.Fact, problems=(409,)),
    Route("POST", f"{FACT}/unpin", facts.unpin_fact, answers.Fact, problems=(409,)),
    Route("POST", f"{FACT}/resolve", facts.resolve_fact, answers.Fact, problems=(409,)),
    Route("POST", f"{FACT}/restore", facts.restore_fact, answers.Fact, problems=(409,)),
    Route("POST", f"{FACT}/deny", facts.deny_fact, answers.Denial),
    Route("GET", f"{ENTITY}/threads", facts.list_threads, Page[answers.Fact], query=(facts.THREADS,)),
    # What is in dispute.
    Route(
        "GET",
        f"{ENTITY}/contradictions",
        disputes.list_contradictions,
        Page[answers.Contradiction],
        query=(disputes.STATUS, LIMIT, AFTER),
    ),
    Route("GET", f"{ENTITY}/contradictions/counts", disputes.count_contradictions, answers.Counts),
    Route(
        "POST",
        f"{ENTITY}/contradictions/{{contradiction}}/resolve",
        disputes.resolve_contradiction,
        answers.Contradiction,
        requests.ResolveFields,
        problems=(409,),
    ),
    Route(
        "POST",
        f"{ENTITY}/contradictions/{{contradiction}}/hold",
        disputes.hold_contradiction,
        answers.Contradiction,
        requests.HoldFields,
        problems=(409,),
        optional_body=True,
    ),
    Route("GET", f"{ENTITY}/collisions", disputes.list_collisions, Page[answers.Collision]),
    Route(
        "POST",
        f"{ENTITY}/collisions/{{collision}}/settle",
        disputes.settle_collision,
        answers.Collision,
        requests.SettleFields,
        problems=(409, 422),
    ),
    # The person: profile, preferences, what is denied.
    Route("GET", f"{ENTITY}/profile", profile.get_profile, answers.Profile),
    Route(
        "GET",
        f"{ENTITY}/profile/history",
        profile.get_history,
        Page[answers.ProfileEntry],
        query=(profile.FIELD, LIMIT, AFTER),
    ),
    Route(
        "PATCH", f"{ENTITY}/profile", profile.patch_profile, answers.Profile, requests.ProfileFields, (), (200,), (409,)
    ),
    Route("GET", f"{ENTITY}/preferences", wishes.get_preferences, answers.Preferences),
    Route("PUT", f"{ENTITY}/preferences", wishes.put_preferences, answers.Preferences, requests.PreferenceFields),
    Route("GET", f"{ENTITY}/denied", wishes.list_denied, Page[answers.Denied], query=(LIMIT, AFTER)),
    Route("POST", f"{ENTITY}/denied", wishes.deny_text, answers.Denial, requests.Words, statuses=(201,)),
    Route("DELETE", f"{ENTITY}/denied/{{denied}}", wishes.allow, answers.Deleted),
    # What was said.
    Route("GET", f"{ENTITY}/turns", turns.list_turns, Page[answers.Turn], query=(SESSION, LIMIT, AFTER)),
    Route("POST", f"{ENTITY}/turns", turns.import_turns, answers.Ids, requests.TurnsBody, (), (201,), (409,)),
    Route("DELETE", f"{ENTITY}/turns/{{turn}}", turns.delete_turn, answers.Deleted),
    Route(
        "POST",
        f"{ENTITY}/extract",
        turns.extract,
        answers.Learned,
        requests.SegmentsBody,
        query=(TIMEOUT,),
        statuses=(201, 202),
        problems=(409,),
    ),
    Route(
        "GET",
        f"{ENTITY}/summaries",
        summaries.list_summaries,
        Page[answers.Summary],
        query=(SESSION, LIMIT, AFTER_TIME),
    ),
    Route("DELETE", f"{ENTITY}/summaries/{{summary}}", summaries.delete_summary, answers.Deleted),
)


def build_api(parts: Parts, access: Access) -> ASGIApp:
    """The ASGI application of everything under /memproxy/ but the proxied `as/{entity}`."""
    return application(ROUTES, parts, access)
