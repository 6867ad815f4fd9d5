"""The lines of a block chosen: part by part, each within its own limit, and what one leaves over for the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from memproxy.context.budget import quarters
from memproxy.context.copies import Copies
from memproxy.context.draft import Draft
from memproxy.context.phrases import Phrase, Phrases, phrase
from memproxy.context.sections import (
    ARTIFACTS,
    EMOTIONAL,
    IDENTITY,
    PAST,
    PROACTIVE,
    SESSION,
    THREADS,
    TIMELINE,
    section_of,
    topic,
)
from memproxy.context.shape import Shape
from memproxy.context.shown import Shown, holds, written
from memproxy.context.standing import as_found, choose
from memproxy.context.wording import as_past, quoted, still_open, with_words
from memproxy.model import Fact, ItemKind, Scored, Speaker

Said = set[tuple[ItemKind, str]]  # kind and id of what stands in a block already


@dataclass(frozen=True, slots=True)
class When:
    """What is known of time when a block is made: the facts among what was found, the moment, and if that is asked."""

    facts: Mapping[str, Fact] = field(default_factory=dict)
    now: datetime | None = None
    timeline: bool = False  # events are shown in order, each with its distance from today


@dataclass(frozen=True, slots=True)
class Beside:
    """What a block may say beside what was found for the message."""

    threads: Sequence[Fact] = ()  # not settled yet
    feelings: Sequence[Fact] = ()  # said with feeling, lately
    suggestions: Sequence[tuple[Fact, str]] = ()  # worth taking up, and in what words
    session: Sequence[Scored] = ()  # what was said earlier in this conversation, and is not in the request
    left_off: Sequence[Scored] = ()  # what the last conversation was about
    artifacts: Mapping[str, Sequence[Shown]] = field(default_factory=dict)  # code and data in turns that were found
    quotable: Collection[str] = ()  # ids of the facts whose quotes may be shown


class Page:
    """A draft being filled part by part. What a part's own limit keeps out waits for what the others leave over."""

    def __init__(self, draft: Draft, shape: Shape, budget_tokens: int, zone: tzinfo) -> None:
        self.draft = draft
        self._zone = zone
        self.said: Said = set()
        self._shape = shape
        self._budget = budget_tokens
        self._copies = Copies()
        self._pieces: set[tuple[str, str]] = set()  # code and data shown
        self._code_room = 0
        self._waiting: list[tuple[Scored, Phrase, str, str | None]] = []

    def add_standing(self, standing: Sequence[Fact], beside: Beside, when: When) -> None:
        """Who the person is, what they feel and what is not settled: so many lines, in a share of the budget."""
        allowance = self._quarters(self._shape.identity)
        lines = self._shape.personal
        facts = [fact for fact in standing if fact.confidence >= self._shape.confidence]
        chosen = choose(facts, self._shape.identity_count, self._shape.topic, when.now)
        parts: list[tuple[Fact, str, str | None, Phrase]] = [
            (fact, IDENTITY, topic(fact.tag), phrase(as_found(fact).candidate)) for fact in chosen
        ]
        parts += [(fact, EMOTIONAL, None, phrase(as_found(fact).candidate)) for fact in beside.feelings]
        parts += [(fact, THREADS, "", still_open(phrase(as_found(fact).candidate), fact)) for fact in beside.threads]
        for fact, section, heading, words in parts:
            if lines <= 0:
                return
            spent = self._add(as_found(fact), words, section, heading, allowance, pinned=fact.pinned)
            allowance -= spent
            lines -= spent > 0

    def add_session(self, beside: Beside) -> None:
        """What was said earlier in this conversation: the latest goes first where not all of it fits."""
        allowance = self._quarters(self._shape.session)
        for item in reversed(beside.session):
            allowance -= self._add(item, phrase(item.candidate), SESSION, "", allowance, waits=True)
        for item in beside.left_off:
            self._add(item, phrase(item.candidate), PAST, None, self._quarters(self._shape.past))

    def add_found(self, found: Sequence[Scored], phrases: Phrases | None, when: When, beside: Beside) -> None:
        """What bears on the message, best first; of other conversations' summaries so many, in their own share."""
        past = min(self._quarters(self._shape.past), 4 * self._shape.past_tokens)
        summaries = self._shape.past_count
        self._code_room = self._quarters(self._shape.artifacts)
        told = {item.candidate.owner_id for item in found if item.candidate.kind == "turn"} if when.facts else ()
        for item in found:
            candidate = item.candidate
            if (candidate.kind, candidate.owner_id) in self.said or not self.draft.may_hold(candidate):
                continue
            section, words = section_of(candidate), phrase(candidate, phrases)
            if section == PAST:
                if summaries > 0 and (item.cosine is None or item.cosine >= self._shape.past_cosine):
                    past -= self._add(item, words, PAST, None, past, waits=True)
                    summaries -= 1
                continue
            if beside.artifacts and self._show(item, beside.artifacts.get(candidate.turn_id or "", ())):
                continue
            fact = when.facts.get(candidate.owner_id) if candidate.kind == "fact" else None
            if candidate.kind == "fact" and candidate.confidence < self._shape.confidence:
                continue
            if fact is not None:
                section, words = self._of_fact(fact, section, words, when, beside, told)
            if len(words.words) > self.draft.room:  # each character weighs a quarter of a token, or more
                continue
            if section == TIMELINE:  # beside the turn that tells it: that has another day
                self.draft.take(item, words, section)
            elif not self._copies.holds(words.said) and self.draft.take(item, words, section):
                self._copies.add(words.said)

    def _show(self, item: Scored, pieces: Sequence[Shown]) -> bool:
        """Show the code or data that a passage stands in, whole and once; whether it is said with that."""
        passage = item.candidate
        piece = next((one for one in pieces if passage.kind == "turn" and holds(one.found, passage.text)), None)
        if piece is None or not self._code_room:
            return False
        key = (piece.turn_id, piece.content)
        if not piece.content or key in self._pieces:
            return True
        day = piece.time.astimezone(self._zone).date().isoformat()
        text = written(piece, day)
        words = Phrase("", text, quarters(f"- {text}\n"), "")
        owner = passage._replace(owner_id=piece.turn_id, turn_id=piece.turn_id, time=piece.time, role=_role(piece.role))
        before = self.draft.room
        taken = self.draft.take(
            Scored(owner, item.score, item.reasons), words, ARTIFACTS, heading="", limit=self._code_room
        )
        if taken:
            self._code_room -= before - self.draft.room
            self._pieces.add(key)
        return taken

    def _of_fact(
        self, fact: Fact, section: str, words: Phrase, when: When, beside: Beside, told: Collection[str]
    ) -> tuple[str, Phrase]:
        """Where and how a fact is said that was found."""
        if fact.status == "historical":
            words = as_past(words, fact)
        elif self._shape.quotes and fact.id in beside.quotable and fact.turn_id not in told:
            words = quoted(words, fact)
        if when.timeline and fact.type == "event":
            return TIMELINE, words
        if fact.thread_status == "open" and fact.status == "current":
            return THREADS, still_open(words, fact)
        return section, words

    def add_suggestions(self, beside: Beside) -> None:
        """What is worth taking up."""
        for fact, why in beside.suggestions:
            words = phrase(as_found(fact).candidate)
            self._add(as_found(fact), with_words(words, label=f"{why}: "), PROACTIVE, "", self.draft.room)

    def add_surplus(self) -> None:
        """What the limit of its own part kept out, as far as there is room now. What is unasked keeps to its share."""
        for item, words, section, heading in self._waiting:
            if not self._copies.holds(words.said):
                self._take(item, words, section, heading, None)

    def _add(
        self,
        item: Scored,
        words: Phrase,
        section: str,
        heading: str | None,
        limit: int,
        *,
        pinned: bool = False,
        waits: bool = False,
    ) -> int:
        """Say something once, within a limit; what it took, in quarters of a token. `waits`: for the surplus."""
        if (item.candidate.kind, item.candidate.owner_id) in self.said or self._copies.holds(words.said):
            return 0
        before = self.draft.room
        if not self._take(item, words, section, heading, limit, pinned) and waits:
            self._waiting.append((item, words, section, heading))
        return before - self.draft.room

    def _take(
        self,
        item: Scored,
        words: Phrase,
        section: str,
        heading: str | None,
        limit: int | None,
        pinned: bool = False,
    ) -> bool:
        if not self.draft.take(item, words, section, heading=heading, limit=limit, pinned=pinned):
            return False
        self.said.add((item.candidate.kind, item.candidate.owner_id))
        self._copies.add(words.said)
        return True

    def _quarters(self, share: float) -> int:
        return int(4 * self._budget * share)


def _role(role: str) -> Speaker:
    return "user" if role == "user" else "assistant"
