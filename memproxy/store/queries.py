"""Finds the named queries. SQL lives in `queries*.sql`; what only SQLite understands in `queries.sqlite.sql`.

Each query begins with `-- name: some_name` and a one-line description. `{table}` and `{dimensions}` in it stand for
what SQL takes no parameters for and is only known at run time (the vector indexes); they are given like parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from memproxy.errors import StoreError

_HEAD = re.compile(r"^-- name: (\w+)\n-- (.+)\n", re.MULTILINE)
_COMMON = (
    "queries.sql",
    "queries_people.sql",
    "queries_profile.sql",
    "queries_overview.sql",
    "queries_archive.sql",
)
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Query:
    """One named statement."""

    name: str
    description: str
    sql: str

    def text(self, params: Mapping[str, Any]) -> str:
        """The SQL, with `{table}` and `{dimensions}` filled in: a plain name and a number, nothing else is accepted."""
        if "{table}" not in self.sql:
            return self.sql
        table = params["table"]
        if not _TABLE_NAME.fullmatch(table):
            raise StoreError(f"not a table name: {table!r}")
        return self.sql.replace("{table}", table).replace("{dimensions}", str(int(params.get("dimensions", 0))))


def parse(text: str) -> dict[str, Query]:
    """Cut a file of named queries apart. Raises StoreError where a name occurs twice."""
    found: dict[str, Query] = {}
    heads = list(_HEAD.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        name, description = head.groups()
        if name in found:
            raise StoreError(f"two queries are called {name}")
        body = text[head.end() : following.start() if following else len(text)]
        found[name] = Query(name, description, body.strip().rstrip(";"))
    return found


@cache
def load(dialect: str) -> dict[str, Query]:
    """All queries of a dialect by name: the common ones, and the dialect's own (which may replace common ones)."""
    folder = files("memproxy.store")
    common = parse("\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _COMMON))
    own = parse(folder.joinpath(f"queries.{dialect}.sql").read_text(encoding="utf-8"))
    return common | own
