"""A block in the making: it grows item by item, and knows what each would cost before it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from memproxy.context.budget import quarters
from memproxy.context.days import day_of, distance
from memproxy.context.layouts import Line
from memproxy.context.phrases import Phrase
from memproxy.context.sections import ARTIFACTS, ORDER, PROACTIVE, SESSION, THREADS, TIMELINE
from memproxy.model import BlockItem, Candidate, Scored
from memproxy.trust import CLOSE, OPEN

_GAP = " … "
_PLACES = {section: place for place, section in enumerate(ORDER)}
_UNDATED = (THREADS, ARTIFACTS, PROACTIVE, SESSION)  # days stand in their lines, or say nothing


Key: TypeAlias = tuple[str, str, str, str]  # what makes up one line: its section, its heading, of whom, which piece


class Taken(NamedTuple):
    """A passage that is to be said, and where."""

    section: str
    heading: str  # the day, or the topic; "" where there is none
    item: Scored
    phrase: Phrase
    line: Key
    pinned: bool = False


class Draft:
    """What is to be said so far, and the room that is left, as the standard layout weighs it."""

    def __init__(self, budget_tokens: int, zone: tzinfo, framing: str, now: datetime | None = None) -> None:
        self._room = 4 * budget_tokens - quarters(f"{OPEN}\n{framing}\n{CLOSE}")
        self._zone = zone
        self._today = now.astimezone(zone).date() if now is not None else None
        self._taken: list[Taken] = []
        self._begun: dict[tuple[str, ...], str] = {}  # sections, their headings, and the lines of these, with labels

    def may_hold(self, candidate: Candidate) -> bool:
        """A cheap look: False where a candidate cannot fit, even if half of it were white space."""
        return len(candidate.text) <= 2 * self._room

    @property
    def room(self) -> int:
        """What is left, in quarters of a token."""
        return self._room

    def take(
        self,
        item: Scored,
        phrase: Phrase,
        section: str,
        *,
        heading: str | None = None,
        limit: int | None = None,
        pinned: bool = False,
    ) -> bool:
        """Take an item in if all of it fits the room (and `limit`); whether it did. Without a heading it is its day."""
        if not phrase.words:
            return False
        if heading is None:
            heading = "" if section in _UNDATED else self._day(item.candidate, section)
        group = (section, heading)
        # The passages of one turn, fact or summary are one line; each piece of code is one of its own.
        piece = phrase.words if section == ARTIFACTS else ""
        line = (section, heading, item.candidate.owner_id, piece)
        cost = phrase.weight
        if line in self._begun:  # at worst a gap on either side
            cost = quarters(phrase.words) + 2 * quarters(_GAP)
            cost += quarters(phrase.label) if phrase.label != self._begun[line] else 0
        elif group not in self._begun:
            cost += quarters(f"{heading}\n") if heading else 0
            cost += quarters(f"{section}\n") if (section,) not in self._begun else 0
        if cost > self._room or (limit is not None and cost > limit):
            return False
        self._room -= cost
        self._taken.append(Taken(section, heading, item, phrase, line, pinned))
        self._begun[(section,)] = self._begun[group] = ""
        self._begun[line] = phrase.label
        return True

    def _day(self, candidate: Candidate, section: str) -> str:
        """The day; on a timeline also how far it is from today: reckoning with dates is what models get wrong."""
        day = day_of(candidate, self._zone)
        apart = f" ({distance(day, self._today)})" if section == TIMELINE and self._today is not None else ""
        return f"{day.isoformat()}{apart}:"

    def lines(self) -> tuple[list[Line], list[BlockItem]]:
        """What was taken, as lines in their order, and as the items of a block."""
        lines: list[Line] = []
        items: list[BlockItem] = []
        first = {taken.item.candidate.owner_id: place for place, taken in reversed(list(enumerate(self._taken)))}
        for _, group in groupby(sorted(self._taken, key=_position), attrgetter("line")):
            passages = list(group)
            best = passages[0].item
            if len(passages) > 1:
                best = max((passage.item for passage in passages), key=lambda item: item.score)
            of, text = best.candidate, _joined(passages)
            day: date = day_of(of, self._zone)
            section, heading = passages[0].section, passages[0].heading
            lines.append(
                Line(
                    section,
                    heading,
                    text,
                    kind=of.kind,
                    id=of.owner_id,
                    day=day,
                    confidence=of.confidence,
                    pinned=passages[0].pinned,
                    own=of.role == "user",
                    rank=first[of.owner_id],
                )
            )
            items.append(BlockItem(of.kind, of.owner_id, text, best.score, section, best.reasons))
        return lines, items


def _position(taken: Taken) -> tuple[int, str, datetime, str, int, str, int]:
    """Where a passage stands: by section and heading, and there in the order in which it was said."""
    said = taken.item.candidate
    return (
        _PLACES[taken.section],
        taken.heading,
        said.time,
        said.session_id or "",
        said.seq,
        said.owner_id,
        said.ordinal,
    )


def _joined(passages: Sequence[Taken]) -> str:
    """The passages of one owner, in order, as one line; where something between them is left out, it shows."""
    label, words = passages[0].phrase[:2]
    if len(passages) == 1:
        return label + words
    parts = [label, words]
    for before, passage in pairwise(passages):
        follows = passage.item.candidate.ordinal == before.item.candidate.ordinal + 1
        parts += [" " if follows else _GAP, passage.phrase.words]
    return "".join(parts)
