"""The report of `memproxy bench relay`: figures from slices of load, beside the floor, against what is promised."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from memproxy import __version__
from memproxy.bench.load import Load, quantile

if TYPE_CHECKING:
    from memproxy.bench.relay import Target

# What docs/bench.md promises, in ratios to the floor inside one run, and in milliseconds and megabytes.
MOST_CPU, LEAST_RATE, MOST_FIRST_MS, MOST_RSS_MB, MOST_ON_MS = 1.5, 0.6, 1.0, 90.0, 4.0


def report(
    targets: Sequence[Target], kinds: Sequence[str], concurrency: Sequence[int], embedder_ms: Mapping[str, float]
) -> dict[str, Any]:
    """Everything that was seen, as plain values: one row a kind, concurrency and target.

    `embedder_ms` is the embedder's own time for a question, by kind of load; empty where it was not measured.
    """
    direct = next(target for target in targets if target.name == "direct")
    floor = next(target for target in targets if target.name == "floor")
    rows = [
        _row(target, direct, floor, (kind, many))
        for kind in kinds
        for many in concurrency
        for target in targets
        if target.loads.get((kind, many), Load()).whole
    ]
    memory = {
        target.name: {"before": target.rss_before, "after": target.rss_after, "soaked": target.rss_soaked}
        for target in targets
    }
    return {
        "memproxy": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "embedder_ms": embedder_ms,
        "rows": rows,
        "rss_mb": memory,
        "promises": _promises(rows, memory, embedder_ms),
    }


def _row(target: Target, direct: Target, floor: Target, key: tuple[str, int]) -> dict[str, Any]:
    seen, alone = target.loads[key], direct.loads[key]

    def added(of: str, share: float) -> float:
        return quantile(getattr(seen, of), share) - quantile(getattr(alone, of), share)

    return {
        "kind": key[0],
        "concurrency": key[1],
        "target": target.name,
        "requests": len(seen.whole),
        "per_second": _rate(target, key),
        "per_second_floor": _rate(target, key) / _rate(floor, key),
        "cpu_ms": _cpu(target, key),
        "cpu_floor": _cpu(target, key) / _cpu(floor, key) if _cpu(floor, key) else None,
        "first_p50_ms": quantile(seen.first, 0.5),
        "p50_ms": quantile(seen.whole, 0.5),
        "p99_ms": quantile(seen.whole, 0.99),
        "added_first_p50_ms": added("first", 0.5),
        "added_first_p99_ms": added("first", 0.99),
        "added_p50_ms": added("whole", 0.5),
        "added_p99_ms": added("whole", 0.99),
    }


def _rate(target: Target, key: tuple[str, int]) -> float:
    return len(target.loads[key].whole) / target.loads[key].seconds


def _cpu(target: Target, key: tuple[str, int]) -> float:
    return target.cpu[key] * 1000 / len(target.loads[key].whole)


def _promises(
    rows: Sequence[Mapping[str, Any]], memory: Mapping[str, Mapping[str, Any]], embedder_ms: Mapping[str, float]
) -> list[dict[str, Any]]:
    """What was promised, what was seen, and whether it holds."""
    off = {(row["kind"], row["concurrency"]): row for row in rows if row["target"] == "memory off"}
    on = {(row["kind"], row["concurrency"]): row for row in rows if row["target"] == "memory on"}
    found: list[tuple[str, float | None, float, bool]] = []
    for kind, many in off:
        row = off[kind, many]
        if kind != "paced":
            found.append((f"memory off, {kind}, {many}: CPU a request, × floor", row["cpu_floor"], MOST_CPU, True))
        if kind != "paced" and many == 32:
            name = f"memory off, {kind}, {many}: requests a second, × floor"
            found.append((name, row["per_second_floor"], LEAST_RATE, False))
        if many == 1:
            name = f"memory off, {kind}, {many}: first byte added, p50 ms"
            found.append((name, row["added_first_p50_ms"], MOST_FIRST_MS, True))
    for kind, many in on:
        if many == 1 and kind in embedder_ms:
            name = f"memory on, {kind}, {many}: first byte added, p50 ms"
            found.append((name, on[kind, many]["added_first_p50_ms"], embedder_ms[kind] + MOST_ON_MS, True))
    if "memory off" in memory:
        found.append(("memory off: RSS, MB", memory["memory off"]["after"] or None, MOST_RSS_MB, True))
        soaked, before = memory["memory off"]["soaked"], memory["memory off"]["after"]
        if soaked is not None and before:
            found.append(("memory off: RSS after the soak, × before it", soaked / before, 1.1, True))
    return [
        {"what": what, "seen": seen, "limit": limit, "met": seen is None or (seen <= limit if most else seen >= limit)}
        for what, seen, limit, most in found
    ]


def show(report: Mapping[str, Any], console: Console) -> None:
    """Print a report for people."""
    for kind in dict.fromkeys(row["kind"] for row in report["rows"]):
        table = Table(
            kind, "under way", "requests/s", "× floor", "CPU ms", "× floor", "first byte ms", "p50 ms", "p99 ms",
            "added first p50", "added p50", "added p99", box=None,
        )  # fmt: skip
        for row in report["rows"]:
            if row["kind"] == kind:
                table.add_row(row["target"], str(row["concurrency"]), *_cells(row))
        console.print(table)
    table = Table("RSS, MB", "before", "after", "soaked", box=None)
    for name, row in report["rss_mb"].items():
        table.add_row(name, *("-" if row[key] is None else f"{row[key]:.1f}" for key in ("before", "after", "soaked")))
    console.print(table)
    if alone := report["embedder_ms"]:
        times = ", ".join(f"{milliseconds:.1f} ms ({kind})" for kind, milliseconds in alone.items())
        console.print(f"the embedder alone takes for a question: {times}", highlight=False)
    for promise in report["promises"]:
        seen = "-" if promise["seen"] is None else f"{promise['seen']:.2f}"
        word = "met" if promise["met"] else "[bold]MISSED[/]"
        console.print(f"{word}: {promise['what']}: {seen} (limit {promise['limit']:.2f})", highlight=False)


def _cells(row: Mapping[str, Any]) -> list[str]:
    cpu_floor = "-" if row["cpu_floor"] is None else f"{row['cpu_floor']:.2f}"
    times = ("first_p50_ms", "p50_ms", "p99_ms", "added_first_p50_ms", "added_p50_ms", "added_p99_ms")
    return [
        f"{row['per_second']:.0f}",
        f"{row['per_second_floor']:.2f}",
        f"{row['cpu_ms']:.2f}",
        cpu_floor,
        *(f"{row[name]:.2f}" for name in times),
    ]
