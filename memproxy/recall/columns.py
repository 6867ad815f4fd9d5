"""What ranking needs of passages beside their words: a column for each thing, so that hundreds are weighed at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from memproxy.lazy import Lazy
from memproxy.model import Candidate, ItemKind
from memproxy.recall.query import is_standing_wish

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

Table: TypeAlias = "NDArray[np.void]"  # of rows with the fields below
Mask: TypeAlias = "NDArray[np.bool_]"

KINDS: tuple[ItemKind, ...] = ("turn", "fact", "summary")
TURN, FACT = KINDS.index("turn"), KINDS.index("fact")
NOWHERE = -1  # the session of what belongs to none, the name of whoever has none
_LONGEST_SESSION = 40  # bits: turns of one conversation that can be told apart from the next one's

_FIELDS = [  # the wide ones first: aligned, a column is read twice as fast
    ("passage", "i8"),
    ("owner", "i8"),  # numbers that stand for the ids of owners
    ("session", "i8"),  # … and of sessions
    ("seq", "i8"),
    ("speaker", "i8"),  # … and of speakers' names
    ("confidence", "f8"),
    ("chars", "i8"),
    ("day", "i8"),  # as `date.toordinal` numbers it
    ("kind", "i1"),  # its place in KINDS
    ("own", "?"),  # the person's own words
    ("wish", "?"),  # a standing wish of theirs
    ("asks", "?"),  # ends in a question
]


def places(rows: Table) -> NDArray[np.int64]:
    """Where each row was said, as a number: turns of a conversation follow each other, no two conversations touch."""
    found: NDArray[np.int64] = (rows["session"] << _LONGEST_SESSION) + rows["seq"]
    return found


class Columns:
    """Passages as rows of numbers, in the order they were added."""

    def __init__(self) -> None:
        self._held: Table = np.zeros(0, np.dtype(_FIELDS, align=True))
        self._count = 0
        self.owners: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.speakers: dict[str | None, int] = {None: NOWHERE}

    @property
    def rows(self) -> Table:
        """All rows; what is added later is not among them."""
        return self._held[: self._count]

    @property
    def repeats(self) -> bool:
        """Whether any of them are of the same owner."""
        return len(self.owners) < self._count

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Add passages."""
        total = self._count + len(candidates)
        if total > len(self._held):
            grown = np.zeros(max(total, 3 * self._count // 2), self._held.dtype)
            grown[: self._count] = self.rows
            self._held = grown
        self._held[self._count : total] = [self._row(candidate) for candidate in candidates]
        self._count = total

    def of_kinds(self, kinds: Iterable[ItemKind]) -> Mask:
        """For each row whether it is of one of these kinds."""
        return np.isin(self.rows["kind"], [KINDS.index(kind) for kind in kinds])

    def _row(self, candidate: Candidate) -> tuple[int | float | bool, ...]:
        session, own = candidate.session_id, candidate.role == "user"
        return (
            candidate.passage_id,
            self.owners.setdefault(candidate.owner_id, len(self.owners)),
            NOWHERE if session is None else self.sessions.setdefault(session, len(self.sessions)),
            candidate.seq,
            self.speakers.setdefault(candidate.speaker, len(self.speakers)),
            candidate.confidence,
            len(candidate.text),
            candidate.time.toordinal(),
            KINDS.index(candidate.kind),
            own,
            own and is_standing_wish(candidate.text),
            candidate.text.rstrip().endswith(("?", "？", "؟")),
        )
