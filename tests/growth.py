"""Whether work grows in proportion to its input: processor time against size, with room for noise."""

from __future__ import annotations

import time
from collections.abc import Callable

SMALL, TIMES = 3_000, 16
# Linear work takes about 16 times as long; quadratic 256 times. Anything in between is noise of the machine.
MOST = 90.0


def growth(work: Callable[[str], object], pump: str, before: str = "", after: str = "", small: int = SMALL) -> float:
    """How many times as long an input sixteen times as long takes; looked at again where a busy moment may be why."""
    one, many = (before + (pump * (size // len(pump) + 1))[:size] + after for size in (small, small * TIMES))
    floor = max(min(_seconds(work, one) for _ in range(3)), 20e-6)
    least = float("inf")
    for _ in range(3):
        least = min(least, _seconds(work, many) / floor)
        if least < MOST:
            break
    return least


def _seconds(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started
