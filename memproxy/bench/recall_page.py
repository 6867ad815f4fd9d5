"""The result of `memproxy bench recall` as one page that needs nothing else: plots as inline SVG, and the figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from memproxy.bench.load import quantile
from memproxy.bench.recall_report import CHIEF, COLUMNS, difference, mean
from memproxy.bench.scoring import BUDGETS

_WIDTH, _HEIGHT, _MARGIN = 560, 300, 46
_COLOURS = ("#1f5f8b", "#b5532a", "#3d7a3d", "#7a4a8c", "#8a6d1f", "#555555")
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222;
       background: #fff }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0 }
td, th { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
figure { display: inline-block; margin: 1rem 1rem 1rem 0 } figcaption { font-size: 13px; color: #444 }
svg text { font: 11px system-ui, sans-serif; fill: #444 }
"""
Point = tuple[float, float]


def page(report: Mapping[str, Any]) -> str:
    """The page as HTML."""
    runs = report["runs"]
    full = [run for run in runs if run["variant"] == "all"]
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Recall</title>",
        f"<style>{_STYLE}</style><h1>Recall</h1>",
        f"<p>memproxy {escape(report['version'])}, {escape(report['embedder'])}, {escape(report['date'])}.</p>",
        _figure("Evidence inside a token budget (%)", "tokens", {run["data"]: _budgets(run) for run in full}),
        _figure("Recall without the question's vector (ms, median)", "passages in memory", _latencies(full), 0),
        *(_kinds(run) for run in full),
        *(_mechanisms(run, [r for r in runs if r["data"] == run["data"] and r is not run]) for run in full),
        "</html>",
    ]
    return "\n".join(parts)


def _budgets(run: Mapping[str, Any]) -> list[Point]:
    found = [(float(budget), mean(run, f"RB@{budget}")) for budget in BUDGETS]
    return [(budget, value) for budget, value in found if value is not None]


def _latencies(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[Point]]:
    lines = {}
    for run in runs:
        sizes = sorted({row["passages"] for row in run["rows"]})
        times = {size: sorted(r["milliseconds"] for r in run["rows"] if r["passages"] == size) for size in sizes}
        lines[run["data"]] = [(float(size), quantile(times[size], 0.5)) for size in sizes]
    return lines


def _figure(title: str, along: str, lines: Mapping[str, Sequence[Point]], least: float | None = None) -> str:
    """A plot of lines over a common scale: the horizontal one goes by powers of two."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    low, high = math.log2(min(x for x, _ in points)), math.log2(max(x for x, _ in points))
    bottom = least if least is not None else max(0.0, 10 * math.floor(min(y for _, y in points) / 10))
    top = max(max(y for _, y in points), bottom + 1e-9)

    def place(point: Point) -> Point:
        x = (math.log2(point[0]) - low) / ((high - low) or 1.0)
        y = (point[1] - bottom) / (top - bottom)
        return _MARGIN + x * (_WIDTH - 2 * _MARGIN), _HEIGHT - _MARGIN - y * (_HEIGHT - 2 * _MARGIN)

    drawn = [
        _line(name, [place(point) for point in line], line, number)
        for number, (name, line) in enumerate(lines.items())
        if line
    ]
    axes = (
        f"<path d='M{_MARGIN} {_MARGIN}V{_HEIGHT - _MARGIN}H{_WIDTH - _MARGIN}' fill='none' stroke='#999'/>"
        f"<text x='4' y='{_MARGIN + 4}'>{top:.1f}</text><text x='4' y='{_HEIGHT - _MARGIN}'>{bottom:.1f}</text>"
        f"<text x='{_MARGIN}' y='{_HEIGHT - 14}'>{2**low:.0f}</text>"
        f"<text x='{_WIDTH / 2}' y='{_HEIGHT - 14}' text-anchor='middle'>{escape(along)}</text>"
        f"<text x='{_WIDTH - _MARGIN}' y='{_HEIGHT - 14}' text-anchor='end'>{2**high:.0f}</text>"
    )
    drawing = f"<svg width='{_WIDTH}' height='{_HEIGHT}' role='img'>{axes}{''.join(drawn)}</svg>"
    return f"<figure>{drawing}<figcaption>{escape(title)}</figcaption></figure>"


def _line(name: str, places: Sequence[Point], points: Sequence[Point], number: int) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    dots = "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'><title>{of[0]:.0f}: {of[1]:.1f}</title></circle>"
        for (x, y), of in zip(places, points, strict=True)
    )
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    named = f"<text x='{_MARGIN + 8}' y='{16 + 14 * number}' style='fill:{colour}'>{escape(name)}</text>"
    return f"<polyline points='{way}' fill='none' stroke='{colour}' stroke-width='2'/>{dots}{named}"


def _kinds(run: Mapping[str, Any]) -> str:
    groups = [None, *sorted({row["category"] for row in run["rows"]})]
    rows = [[group or "all that can be answered", *(_points(mean(run, m, group)) for m in COLUMNS)] for group in groups]
    return f"<h2>{escape(run['data'])}</h2>" + _table(["questions", *COLUMNS], rows)


def _mechanisms(full: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    if not others:
        return ""
    rows = []
    for run in others:
        changes = [difference(full, run, measure) for measure in CHIEF]
        rows.append(
            [run["variant"], *("-" if c is None else f"{c.mean:+.1f} ({c.low:+.1f}, {c.high:+.1f})" for c in changes)]
        )
    return f"<h3>{escape(full['data'])}: what changes without a mechanism</h3>" + _table(["asked", *CHIEF], rows)


def _points(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    return "<table>" + line(head, "th") + "".join(line(row, "td") for row in rows) + "</table>"
