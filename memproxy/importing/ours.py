"""What `memproxy export` wrote, read line by line: however large it is, little of it is in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from memproxy.archive import rows
from memproxy.archive.restoring import BATCH, Placed, Restorer
from memproxy.errors import Problem
from memproxy.importing.bringing import Report
from memproxy.importing.formats import OURS
from memproxy.importing.records import Broken
from memproxy.store.rows import to_time

LONGEST_LINE = 64 << 20  # bytes
_SIGN = b'"memproxy"'
_PLACES = {"session": "conversations", "turn": "turns", "fact": "statements"}


class _Begins(msgspec.Struct):
    """As much of a first line as tells whose it is."""

    memproxy: str
    version: int


def begins(path: Path) -> bool:
    """Whether a file is one of ours, by its first line. Raises Problem 422 for one of a later version."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(1 << 16)
    if _SIGN not in first:
        return False
    try:
        said = msgspec.json.decode(first, type=_Begins)
    except msgspec.MsgspecError:
        return False
    if said.memproxy == OURS and said.version > rows.VERSION:
        raise Problem(
            422,
            f"That file is of version {said.version}, made by a later memproxy",
            f"This one reads versions up to {rows.VERSION}: update it (pip install --upgrade memproxy).",
        )
    return said.memproxy == OURS


async def bring_back(path: Path, restorer: Restorer, told: Callable[[int], None]) -> Report:
    """Bring the rows of a file back; `told` is given how many lines that were, batch by batch.

    Raises Problem, StoreError.
    """
    report = Report(formats=[OURS])
    reading = _Reading(path.name, restorer, report)
    with path.open("rb") as file:
        batch: list[Placed] = []
        for placed in reading.lines(file):
            batch.append(placed)
            if len(batch) == BATCH:
                await restorer.take(batch)
                told(len(batch))
                batch = []
        await restorer.take(batch)
        told(len(batch))
    if not reading.ended:
        restorer.broken(f"{path.name} line {reading.number}", "the file breaks off here: its last line is missing")
    await restorer.finish()
    return _filled(report, restorer)


class _Reading:
    """Lines into rows; what cannot be read is told with its number."""

    def __init__(self, name: str, restorer: Restorer, report: Report) -> None:
        self._name = name
        self._restorer = restorer
        self._report = report
        self.number = 0
        self.ended = False

    def lines(self, file: IO[bytes]) -> Iterator[Placed]:
        """Every line but the first and the last."""
        while line := file.readline(LONGEST_LINE):
            self.number += 1
            where = f"{self._name} line {self.number}"
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                self._restorer.broken(where, "too long to be read")
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                continue
            if self.number == 1 or not line.strip():
                continue
            try:
                row = rows.decode(line)
            except (ValueError, RecursionError) as error:
                self._restorer.broken(where, f"no row: {error}")
                continue
            if isinstance(row, rows.End):
                self.ended = True
                continue
            if isinstance(row, rows.TurnRow):
                self._report.dated(to_time(row.time))
            yield where, row


def _filled(report: Report, restorer: Restorer) -> Report:
    found, new = restorer.report.found, restorer.report.new
    for kind, name in _PLACES.items():
        setattr(report, name, found[kind])
    report.new_turns, report.new_facts = new["turn"], new["fact"]
    report.known_turns, report.known_facts = found["turn"] - new["turn"], found["fact"] - new["fact"]
    report.others = {kind: count for kind, count in found.items() if kind not in _PLACES}
    report.new_others = sum(count for kind, count in new.items() if kind not in _PLACES)
    report.broken = [Broken(where, reason) for where, reason in restorer.report.left_out]
    return report
