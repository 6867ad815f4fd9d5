"""What `memproxy bench recall` says: means with bootstrap intervals, by data set and kind of question."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from memproxy.bench.load import quantile
from memproxy.bench.scoring import BUDGETS, UNANSWERABLE
from memproxy.errors import SettingsError

COLUMNS = (
    "R@5", "R@10", "R@20", "S@5", "MRR",
    *(f"RB@{budget}" for budget in BUDGETS), "allB@2000", "AB@1000", "AB@2000",
)  # fmt: skip
CHIEF = ("R@10", "RB@1000", "RB@2000")  # those that variants and earlier results are compared by
_RESAMPLED = 1000
_SEED = 7


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where 95 % of the means of resampled questions lie, in points."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} [{self.low:.1f}, {self.high:.1f}]"


def values(run: Mapping[str, Any], measure: str, category: str | None = None) -> dict[str, float]:
    """A measure of each question, by its id: of those that can be answered, or of those of a category."""
    return {
        row["qid"]: row["measures"][measure]
        for row in run["rows"]
        if measure in row["measures"]
        and (row["category"] == category if category else row["category"] not in UNANSWERABLE)
    }


def mean(run: Mapping[str, Any], measure: str, category: str | None = None) -> float | None:
    """Its mean in points; None where no question has it."""
    found = values(run, measure, category)
    return 100 * statistics.mean(found.values()) if found else None


def interval(found: Sequence[float]) -> Interval:
    """The mean of some values (0..1) with its bootstrap interval; the same every time."""
    dice = random.Random(_SEED)
    means = sorted(statistics.fmean(dice.choices(found, k=len(found))) for _ in range(_RESAMPLED))
    low, high = means[int(0.025 * _RESAMPLED)], means[int(0.975 * _RESAMPLED)]
    return Interval(100 * statistics.fmean(found), 100 * low, 100 * high)


def difference(before: Mapping[str, Any], after: Mapping[str, Any], measure: str) -> Interval | None:
    """How much a measure changed, question by question, over those that both have."""
    old, new = values(before, measure), values(after, measure)
    both = [new[qid] - old[qid] for qid in old if qid in new]
    return interval(both) if both else None


def read(path: Path) -> dict[str, Any]:
    """An earlier result. Raises SettingsError where it is none."""
    try:
        report: dict[str, Any] = json.loads(path.read_bytes())
        if not isinstance(report["runs"], list):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError):
        raise SettingsError(f"{path} is no result that memproxy bench recall wrote with --json") from None
    return report


def show(report: Mapping[str, Any], console: Console) -> None:
    """Tables: every kind of question for the full configuration, then what each mechanism is worth."""
    for run in report["runs"]:
        if run["variant"] == "all":
            _show_run(run, report["embedder"], console)
    for run in report["runs"]:
        if run["variant"] == "all":
            _show_variants(run, [r for r in report["runs"] if r["data"] == run["data"] and r is not run], console)


def show_comparison(before: Mapping[str, Any], after: Mapping[str, Any], console: Console) -> None:
    """What changed since an earlier result, where both asked the same."""
    known = {(run["data"], run["variant"]): run for run in before["runs"]}
    table = Table("data", "asked", *CHIEF, box=None, title=f"change since {before['version']}, {before['date']}")
    for run in after["runs"]:
        old = known.get((run["data"], run["variant"]))
        if old is not None:
            table.add_row(run["data"], run["variant"], *(_signed(difference(old, run, one)) for one in CHIEF))
    console.print(table)


def _show_run(run: Mapping[str, Any], embedder: str, console: Console) -> None:
    table = Table("questions", "n", *COLUMNS, box=None)
    groups = [None, *sorted({row["category"] for row in run["rows"]})]
    for category in groups:
        count = len(values(run, "used@500", category))
        shown = [mean(run, measure, category) for measure in COLUMNS]
        cells = ["-" if value is None else f"{value:.1f}" for value in shown]
        table.add_row(category or f"all but {' and '.join(UNANSWERABLE)}", str(count), *cells)
    console.print(
        f"{run['data']}, {embedder}; {run['unlabelled']} questions without evidence left out", highlight=False
    )
    console.print(table)
    spread = ", ".join(f"{m} {interval(list(values(run, m).values()))}" for m in CHIEF if values(run, m))
    console.print(f"95 % intervals over questions: {spread}", highlight=False, markup=False)
    if run.get("needless"):
        share = statistics.mean(run["needless"])
        console.print(f"of requests that need no memory {100 * share:.1f} % get nothing", highlight=False)
    times = sorted(row["milliseconds"] for row in run["rows"])
    console.print(
        f"recall and rendering without the question's vector, ms: p50 {quantile(times, 0.5):.1f}, "
        f"p95 {quantile(times, 0.95):.1f}; nothing found for {sum(row['found'] == 0 for row in run['rows'])}",
        highlight=False,
    )


def _show_variants(full: Mapping[str, Any], others: Sequence[Mapping[str, Any]], console: Console) -> None:
    if not others:
        return
    table = Table("asked", *CHIEF, box=None, title=f"{full['data']}: what changes without a mechanism")
    for run in others:
        table.add_row(run["variant"], *(_signed(difference(full, run, measure)) for measure in CHIEF))
    console.print(table)


def _signed(change: Interval | None) -> str:
    return "-" if change is None else f"{change.mean:+.1f} ({change.low:+.1f}, {change.high:+.1f})"
