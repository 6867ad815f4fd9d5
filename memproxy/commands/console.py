"""What people and scripts read: rows as a table or as JSON, one line for trouble."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

# Into a pipe goes each row in one line, whole: to be searched and copied from. A remembered ":dog:" stays what it is.
out = Console(emoji=False, width=None if sys.stdout.isatty() else 10_000)
err = Console(stderr=True, emoji=False)


def tell(kind: str, text: str) -> None:
    """One line to a person; what it quotes (paths, `keys[0]`) is never read as markup."""
    err.print(f"[{'red' if kind == 'error' else 'yellow'}]{kind}:[/]", end=" ")
    err.print(text, markup=False, highlight=False, soft_wrap=True)


def print_json(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def print_rows(rows: Sequence[Mapping[str, Any]], json_output: bool, columns: Sequence[str]) -> None:
    if json_output:
        print_json(list(rows))
        return
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    out.print(table if rows else "nothing there", highlight=False)


def _cell(value: object) -> Any:
    from rich.text import Text

    return Text("" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value), overflow="fold")


def print_one(row: Any, json_output: bool, view: Callable[[Any], Mapping[str, Any]]) -> None:
    shown = view(row)
    if json_output:
        print_json(shown)
        return
    print_fields(shown)


def print_fields(shown: Mapping[str, Any]) -> None:
    """A line a field, for people."""
    for label, value in shown.items():
        if value is not None:
            out.print(f"{label:>18}  {value}", highlight=False, markup=False, soft_wrap=True)
