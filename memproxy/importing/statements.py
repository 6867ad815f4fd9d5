"""What other memories keep: single statements, with when they were learned and, where told, for what time they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from memproxy.importing.moments import moment
from memproxy.importing.records import Broken, Format, Raw, Record, Statement, each


def _format(
    name: str, what: str, within: tuple[str, ...], of: Callable[[Mapping[str, Any]], Statement | None]
) -> Format:
    """A format of statements that stand alone or in a list of that name."""

    def find(value: Mapping[str, Any]) -> list[Any] | None:
        return next((value[key] for key in within if isinstance(value.get(key), list)), None)

    def known(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        inner = find(value)
        return known(inner[0]) if inner else _reads(of, value)

    def read(raw: Raw) -> Iterator[Record]:
        inner = find(raw.value)
        parts = [raw] if inner is None else [Raw(f"{raw.where}.{index}", value) for index, value in enumerate(inner)]
        for part in parts:
            yield from one(part)

    def one(raw: Raw) -> Iterator[Record]:
        try:
            statement = of(raw.value)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Broken(raw.where, f"not shaped as expected ({type(error).__name__})")
            return
        if statement is not None:
            yield replace(statement, where=raw.where)

    return Format(name, what, known, each(read))


def _reads(of: Callable[[Mapping[str, Any]], Statement | None], value: Any) -> bool:
    try:
        of(value)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no text")
    return value


def _mem0(value: Mapping[str, Any]) -> Statement | None:
    return Statement("", _text(value["memory"]), moment(value.get("created_at")))


def _openmemory(value: Mapping[str, Any]) -> Statement | None:
    """OpenMemory marks what was deleted or archived; neither is to come back."""
    if value.get("state", "active") not in ("active", "paused"):
        return None
    if not ({"state", "categories", "app_name", "app"} & set(value)):
        raise ValueError("no memory of OpenMemory")
    return Statement("", _text(value.get("content", value.get("text"))), moment(value.get("created_at")))


def _zep(value: Mapping[str, Any]) -> Statement | None:
    """An edge of Zep or Graphiti: a fact with the time for which it holds; an expired one was wrong or is over."""
    ended = moment(value.get("invalid_at")) or moment(value.get("expired_at"))
    return Statement("", _text(value["fact"]), moment(value.get("created_at")), moment(value.get("valid_at")), ended)


MEM0 = _format("mem0", "memories of mem0", ("results", "memories"), _mem0)
OPENMEMORY = _format("openmemory", "memories of OpenMemory", ("memories", "items"), _openmemory)
ZEP = _format("zep", "facts of Zep or Graphiti", ("edges", "facts"), _zep)
