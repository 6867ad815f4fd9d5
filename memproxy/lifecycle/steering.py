"""Wishes of a chat carried out: by the same deeds as those of the API, and told to the model in the block.

Nothing is added to a request but words in the block, and nothing of an answer is changed. What is to be forgotten must
be named clearly: the words of one fact, and of no other. Otherwise nothing is forgotten, and the model is told what
might be meant, so that it can ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memproxy.errors import Problem
from memproxy.events import Metrics
from memproxy.extraction.control import AboutMe, Forget, Remember, Wish, understood
from memproxy.interfaces import Connection, Database
from memproxy.lifecycle.curation import Curator
from memproxy.model import Entity, Fact
from memproxy.recall.terms import terms
from memproxy.recall.words import STOPWORDS
from memproxy.store import facts as fact_rows

MOST_CANDIDATES = 5
MOST_TOLD = 60  # facts, for who asks what is known
_NEGATIONS = frozenset(terms("not no never none nothing without cannot"))
_CLEAR = 2  # content words that name a fact; one alone stands in many


@dataclass(frozen=True, slots=True)
class Told:
    """A line for the model: what was done, or what it may ask; and the fact that it speaks of."""

    text: str
    fact_id: str | None = None


class Steering:
    """Carries out what a message plainly asks of memory. Raises StoreError, SwitchedOff."""

    def __init__(self, db: Database, curator: Curator, metrics: Metrics) -> None:
        self._db = db
        self._curator = curator
        self._metrics = metrics

    async def steer(self, entity: Entity, message: str, acts: bool) -> list[Told]:
        """Do what a message asks, unless it may only read (`acts`); what the model is to be told of it."""
        told: list[Told] = []
        for wish in understood(message):
            told += await self._carry_out(entity, wish, acts)
        return told

    async def _carry_out(self, entity: Entity, wish: Wish, acts: bool) -> list[Told]:
        match wish:
            case AboutMe():
                return await self._about(entity)
            case Remember(text) if acts:
                return await self._remember(entity, text)
            case Forget(text) if acts:
                return await self._forget(entity, text)
        self._count("read-only")
        return []

    async def _remember(self, entity: Entity, text: str) -> list[Told]:
        try:
            fact = await self._curator.note(entity, text[:1].upper() + text[1:], {"quote": text})
        except Problem as problem:
            if problem.status != 409:
                raise
            self._count("refused")
            return []
        self._count("remembered")
        return [Told(f"Just noted, as this person asked: {fact.text}", fact.id)]

    async def _forget(self, entity: Entity, text: str) -> list[Told]:
        facts = await self._db.read(lambda conn: _all(conn, entity))
        named = [fact for fact in facts if fact.status == "current" and names(text, fact)]
        if len(named) == 1:
            await self._curator.forget(entity, named[0].id)
            self._count("forgotten")
            return [Told("What this person just asked to be forgotten has been forgotten.")]
        if not named and any(fact.status == "forgotten" and names(text, fact) for fact in facts):
            self._count("forgotten")  # the same message again
            return [Told("What this person just asked to be forgotten has been forgotten.")]
        self._count("unclear")
        near = named or _near(text, [fact for fact in facts if fact.status == "current"])
        if not near:
            return [Told("Nothing was forgotten: nothing that is remembered was clearly named.")]
        asks = "Nothing was forgotten yet: it is not clear which of these is meant; this person can be asked."
        return [Told(asks), *(Told(fact.text, fact.id) for fact in near[:MOST_CANDIDATES])]

    async def _about(self, entity: Entity) -> list[Told]:
        facts = await self._db.read(lambda conn: _all(conn, entity))
        current = [fact for fact in facts if fact.status == "current"]
        current.sort(key=lambda fact: (fact.pinned, fact.significance, fact.confidence, fact.id), reverse=True)
        self._count("told")
        if not current:
            return [Told("This person asks what is remembered of them: no facts yet.")]
        rest = len(current) - MOST_TOLD
        head = "This person asks what is remembered of them; these are the facts, the weightiest first:"
        more = [Told(f"… and {rest} more, on their memory page.")] if rest > 0 else []
        return [Told(head), *(Told(fact.text, fact.id) for fact in current[:MOST_TOLD]), *more]

    def _count(self, outcome: str) -> None:
        self._metrics.control.labels(outcome).inc()


async def _all(conn: Connection, entity: Entity) -> list[Fact]:
    return await fact_rows.everything(conn, entity)


def names(text: str, fact: Fact) -> bool:
    """Whether words clearly name a fact: all of their content is in it or in its quote, and it is as negated."""
    wanted = _content(text)
    for said in filter(None, (fact.text, fact.quote)):
        held = _content(said)
        whole = wanted == held and bool(wanted)
        if (whole or (len(wanted) >= _CLEAR and wanted <= held)) and _negated(text) == _negated(said):
            return True
    return False


def _near(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """The facts that share content with words, those that share most first."""
    wanted = _content(text)
    shared = [(len(wanted & _content(f"{fact.text} {fact.quote or ''}")), fact) for fact in facts]
    return [fact for count, fact in sorted(shared, key=lambda pair: -pair[0]) if count]


def _content(text: str) -> set[str]:
    return {term for term in terms(text) if term not in STOPWORDS and term not in _NEGATIONS}


def _negated(text: str) -> bool:
    return any(term in _NEGATIONS or (term.endswith("nt") and len(term) > 3) for term in terms(text))
