"""Whether work grows in proportion to its input: processor time against size, with room for noise."""

from __future__ import annotations

import time
from collections.abc import Callable

SMALL, TIMES = 3_000, 16
# Linear work takes about 16 times as long; quadratic 256 times. Anything in between is noise of the machine.
MOST = 90.0


def growth(work: Callable[[str], object], pump: str, before: str = "", after: str = "", small: int = SMALL) -> float:
    """How many times as long an input sixteen times as long takes; the best of three, so that a busy moment is none."""
    one, many = (before + (pump * (size // len(pump) + 1))[:size] + after for size in (small, small * TIMES))
    return _seconds(work, many) / max(_seconds(work, one), 20e-6)


def _seconds(work: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        work(text)
        best = min(best, time.process_time() - started)
        if best > 5:
            break
    return best
