"""What models cost where that is known: as data with its date. Settings say otherwise, or what is not known here.

Dollars for a million tokens, without discounts for caches or batches.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """Of tokens read and written, and when it was looked up."""

    read: float
    written: float = 0.0
    as_of: str = ""


PRICES: dict[str, Price] = {
    "gpt-4o-mini": Price(0.15, 0.60, "2026-11"),
    "text-embedding-3-small": Price(0.02, as_of="2026-11"),
}


def price_of(model: str, read: float | None, written: float | None = None) -> Price | None:
    """The price that settings name, else the one known of a model (whoever passes it on: `openai/gpt-4o-mini`)."""
    if read is not None:
        return Price(read, written or 0.0, "the settings")
    return PRICES.get(model.rpartition("/")[2])
