"""What a block may say beside what was found for a message: read from the store, as far as it is wanted."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.context.render import NOTHING, Beside
from memproxy.extraction.artifacts import may_hold
from memproxy.interfaces import Connection, Database
from memproxy.lifecycle import artifacts
from memproxy.lifecycle.suggesting import suggest
from memproxy.model import Candidate, Entity, Scored
from memproxy.recall.recall import Found
from memproxy.recall.terms import index_terms
from memproxy.settings import Settings
from memproxy.store import evidence, sessions, summaries, unasked
from memproxy.store.summaries import Summary

MOST_FEELINGS = 5
LOOKED_AT = 20  # passages, the best, for code and data among them
_ABOUT_CODE = re.compile(
    r"\b(?:code|script|snippet|function|method|class|module|component|implementation|quer(?:y|ies)|sql|schema|table|index|"
    r"migration|json|ya?ml|toml|csv|xml|html|css|config\w*|regex|endpoint|api|type|struct|test|command|dockerfile|makefile|"
    r"refactor\w*|debug\w*|funktion|skript|tabelle|abfrage|fonction|requête|fichier|función|consulta|clase|funzione|"
    r"função|tabela|функци\w+|код\w*|запрос\w*|таблиц\w+)s?\b|代码|函数|脚本|查询|配置|関数|コード|쿼리|코드|함수|"
    r"\w\.(?:py|js|ts|tsx|go|rs|java|rb|php|cs|cpp|c|h|sh|sql|json|ya?ml|toml|html|css)\b|\w_\w|\w\(\)",
    re.IGNORECASE,
)
FEELINGS_FOR = timedelta(days=14)
LEFT_OFF_FOR = timedelta(hours=72)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request calls for."""

    opening: bool = True  # it begins a conversation
    unasked: bool = True  # who the person is is said with it
    session_name: str | None = None
    present: Collection[tuple[str, int]] = ()  # the stored turns (session, place) that the request carries
    recalls: bool = True  # something is looked for


class Besides:
    """Reads what stands beside. Raises StoreError."""

    def __init__(self, db: Database, settings: Settings) -> None:
        memory = settings.memory
        self._db = db
        self._condenses = settings.summaries.enabled is not False and settings.working_memory.turns > 0
        self._threads = memory.open_threads
        self._feels = memory.emotional
        self._suggests = memory.proactive
        self._quotes = memory.quotes
        self._left_off = settings.summaries.left_off
        self._shows = memory.artifact_share > 0

    async def read(self, conn: Connection, entity: Entity, now: datetime, wanted: Wanted) -> Beside:
        """What does not depend on what is found. Nothing is asked where there is nothing to ask for."""
        threads = self._threads if wanted.opening and wanted.unasked else 0
        feels = self._feels and wanted.unasked
        suggests = self._suggests and wanted.opening
        left_off = self._left_off and wanted.opening and wanted.recalls
        goes_on = self._condenses and bool(wanted.present or wanted.session_name)
        if not (threads or feels or suggests or goes_on or left_off):
            return NOTHING
        begins = wanted.session_name is None or await sessions.by_name(conn, entity, wanted.session_name) is None
        return Beside(
            threads=await evidence.open_threads(conn, entity, threads) if threads and begins else (),
            feelings=await unasked.feelings(conn, entity, now - FEELINGS_FOR, MOST_FEELINGS) if feels else (),
            suggestions=suggest(entity, await unasked.noteworthy(conn, entity), now) if suggests and begins else (),
            left_off=await _left_off(conn, entity, now) if left_off and begins else (),
            session=await _earlier(conn, entity, wanted) if goes_on else (),
        )

    async def of_found(
        self, entity: Entity, found: Found, present: Collection[tuple[str, int]], beside: Beside
    ) -> Beside:
        """The same with what may be shown of what was found: quotes, and code and data whole."""
        quoting = [fact for fact in found.facts.values() if fact.quote] if self._quotes else []
        coded = _coded(found) if self._shows else set()
        if not (quoting or coded):
            return beside

        async def look(conn: Connection) -> Beside:
            return replace(
                beside,
                artifacts=await artifacts.shown(conn, entity, coded, present) if coded else {},
                quotable=await unasked.quotable(conn, entity, quoting) if quoting else (),
            )

        return await self._db.read(look)


def _coded(found: Found) -> set[str]:
    """The turns among the best that was found whose passages look like code or data, where a question is about such.

    For any other question lines of it are enough: whole, it would take the room of what else bears on the question.
    """
    if _ABOUT_CODE.search(found.query.text) is None:
        return set()
    best = (item.candidate for item in found.scored[:LOOKED_AT])
    return {c.turn_id for c in best if c.kind == "turn" and c.turn_id and may_hold(c.text)}


async def _left_off(conn: Connection, entity: Entity, now: datetime) -> Sequence[Scored]:
    """What the last conversation was about, if it ended not long ago."""
    newest = [s for s in await summaries.list_summaries(conn, entity, LOOKED_AT) if s.kind == "conversation"][:1]
    return [_as_found(one, one.text) for one in newest if now - one.ended_at <= LEFT_OFF_FOR]


async def _earlier(conn: Connection, entity: Entity, wanted: Wanted) -> Sequence[Scored]:
    """What was said earlier in the conversation that a request goes on with, and that it does not carry itself."""
    if wanted.session_name is not None:
        named = await sessions.by_name(conn, entity, wanted.session_name)
        going_on = {named.id} if named is not None else set()
    else:
        going_on = {session_id for session_id, _ in wanted.present}
    if len(going_on) != 1:
        return ()
    session_id = going_on.pop()
    carried = {seq for session, seq in wanted.present if session == session_id}
    return [
        _as_found(summary, _stretch(summary))
        for summary in await summaries.of_session(conn, entity, session_id)
        if summary.kind != "conversation" and not carried & set(range(summary.first_seq, summary.last_seq + 1))
    ]


def _stretch(summary: Summary) -> str:
    about = "Overview of turns" if summary.kind == "overview" else "Turns"
    return f"{about} {summary.first_seq}-{summary.last_seq}: {summary.text}"


def _as_found(summary: Summary, text: str) -> Scored:
    terms = index_terms(text, "assistant", summary.started_at)
    return Scored(
        Candidate(
            passage_id=0,
            kind="summary",
            owner_id=summary.id,
            ordinal=0,
            text=text,
            terms=terms,
            session_id=summary.session_id,
            seq=summary.first_seq,
            role="assistant",
            speaker=None,
            time=summary.ended_at if summary.kind == "conversation" else summary.started_at,
            confidence=1.0,
        ),
        score=1.0,
        reasons={"session": 1.0},
    )
