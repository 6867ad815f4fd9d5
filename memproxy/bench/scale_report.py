"""What `memproxy bench scale` found, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def show(report: Mapping[str, Any], console: Console) -> None:
    """Print a report."""

    def line(text: str) -> None:
        console.print(text, highlight=False)

    line(f"{report['turns']} turns of {report['people']} people, vectors by {report['vectors']}")
    line("recall and rendering without the question's vector, ms")
    console.print(_recall(report))
    if beside := report["beside_small"]:
        for way, both in beside.items():
            large, small = both["large"]["p95_ms"], both["small"]["p95_ms"]
            line(f"a person of 1000 turns, {way} p95: {large:.1f} ms here, {small:.1f} in a small store")
    share, rss, filled = report["ingest_share"], report["rss_mb"], report["filled"]
    line(f"filled with {filled['turns']} turns, {filled['per_second']:.0f} a second")
    line(f"opened in {report['start_seconds']:.1f} s")
    line(f"a sample more: {report['ingest_per_second']:.0f} turns a second, {share:.2f} x the embedder alone")
    line(f"file {report['bytes_per_turn']:.0f} bytes a turn{_apart(report['of_them'])}")
    line(f"RSS {rss['empty']:.0f} MB empty, {rss['full']:.0f} MB full")


def _recall(report: Mapping[str, Any]) -> Table:
    near = f"{report['nearest_by']} p50"
    table = Table("turns of one person", "people", "warm p50", "p95", "p99", "cold p50", "p95", near, box=None)
    for row in report["recall"]:
        warm, cold = row["warm"], row["cold"]
        shown = [warm["p50_ms"], warm["p95_ms"], warm["p99_ms"], cold["p50_ms"], cold["p95_ms"]]
        shown.append(row["nearest_on_disk"]["p50_ms"])
        table.add_row(str(row["turns"]), str(row["people"]), *(f"{value:.1f}" for value in shown))
    return table


def _apart(sizes: Mapping[str, float]) -> str:
    return f": {', '.join(f'{part} {size:.0f}' for part, size in sizes.items())}" if sizes else ""
