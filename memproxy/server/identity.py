"""Whose memory a request means, which conversation it is, and what memory may do with it."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args
from urllib.parse import unquote_to_bytes
from zoneinfo import ZoneInfo

from memproxy.errors import NotUnderstood, Problem
from memproxy.events import Skip
from memproxy.model import MemoryMode
from memproxy.names import clean_name
from memproxy.server.access import Caller, Headers
from memproxy.settings import Settings, zone

AS_PREFIX = b"/memproxy/as/"
MAX_AHEAD = timedelta(minutes=5)


class Refused(NotUnderstood):
    """The request goes on without memory; `reason` is a Skip."""


class Forbidden(Problem):
    """The key does not allow the entity that was named."""

    def __init__(self) -> None:
        super().__init__(403, "This key may not name that entity", "Use a key whose entities cover it.")


@dataclass(frozen=True, slots=True)
class Named:
    """A request path without the `/memproxy/as/{entity}` prefix, and the entity that stood in it."""

    path: bytes
    entity: str | None
    valid: bool = True


def split_path(raw_path: bytes) -> Named:
    """Take `/memproxy/as/{entity}` off a raw path. The segment is percent-decoded once; the rest stays as it is."""
    if not raw_path.startswith(AS_PREFIX):
        return Named(raw_path, None)
    segment, slash, rest = raw_path[len(AS_PREFIX) :].partition(b"/")
    try:
        name = clean_name(unquote_to_bytes(segment).decode("utf-8"))
    except (UnicodeDecodeError, ValueError):
        return Named(slash + rest or b"/", None, valid=False)
    return Named(slash + rest or b"/", name)


def entity_name(
    headers: Headers, path: Named, fields: Mapping[str, str], settings: Settings, caller: Caller
) -> str | None:
    """The entity in the order of the design: header or path, fallback sources, the key's own, the configured one.

    None: nobody said. Raises Refused for a name that is invalid or said twice differently, Forbidden for one outside
    the key's list.
    """
    if not path.valid:
        raise Refused(Skip.BAD_ENTITY)
    said = [name for name in (_header_name(headers, "x-memg-entity", Skip.BAD_ENTITY), path.entity) if name is not None]
    if len(set(said)) > 1:
        raise Refused(Skip.ENTITY_MISMATCH)
    name = said[0] if said else _fallback(headers, fields, settings)
    if name is not None:
        if not caller.may_name(name):
            raise Forbidden
        return name
    configured = caller.own_entity or settings.entity
    if configured is None:
        return None
    configured = clean_name(configured)
    return configured if caller.may_name(configured) else None


def session_name(headers: Headers) -> str | None:
    """The conversation's name, where the client gave one. Raises Refused for an invalid one."""
    return _header_name(headers, "x-memg-session", Skip.BAD_SESSION)


def memory_mode(headers: Headers) -> MemoryMode:
    """What memory may do: an unknown value means off, so that a typing error never remembers."""
    said = headers.get("x-memg-memory")
    if said is None:
        return "full"
    if headers.repeated("x-memg-memory"):
        return "off"
    value = said.strip().lower()
    return next((mode for mode in get_args(MemoryMode) if mode == value), "off")


def recovers(headers: Headers, entity: str, settings: Settings) -> bool:
    """Whether a conversation is to be put back into a request that brings only its newest message.

    The header says it for one request (`recover`; anything else means no), the settings for entities.
    """
    said = headers.get("x-memg-history")
    if said is not None:
        return said.strip().lower() == "recover" and not headers.repeated("x-memg-history")
    return any(fnmatch.fnmatchcase(entity, pattern) for pattern in settings.working_memory.recover)


def time_zone(headers: Headers, settings: Settings) -> ZoneInfo | None:
    """The person's time zone by header, else the configured one; None where the header names no zone."""
    said = headers.get("x-memg-timezone")
    if said is None:
        return ZoneInfo(settings.timezone)
    return zone(said)


def client_time(headers: Headers, settings: Settings, caller: Caller) -> str | None:
    """The X-MemG-Time header where it is honoured: with `client_time` on, and with keys only from an admin key."""
    allowed = settings.client_time and (caller.key is None or caller.key.admin)
    return headers.get("x-memg-time") if allowed else None


def read_time(text: str, now: datetime) -> datetime:
    """An ISO 8601 time in UTC (UTC assumed where it names no zone). Raises ValueError: unreadable, or in the future."""
    parsed = datetime.fromisoformat(text.strip())
    try:
        parsed = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time beyond the calendar") from None
    if parsed > now + MAX_AHEAD:
        raise ValueError("a time more than five minutes ahead")
    return parsed


def _header_name(headers: Headers, header: str, reason: Skip) -> str | None:
    said = headers.get(header)
    if said is None:
        return None
    if headers.repeated(header):
        raise Refused(reason)
    try:
        return clean_name(said)
    except ValueError:
        raise Refused(reason) from None


def _fallback(headers: Headers, fields: Mapping[str, str], settings: Settings) -> str | None:
    for source in settings.entity_sources:
        kind, _, name = source.partition(":")
        if kind == "header" and headers.repeated(name.lower()):
            raise Refused(Skip.BAD_ENTITY)
        said = headers.get(name.lower()) if kind == "header" else fields.get(name)
        if said:
            try:
                return clean_name(said)
            except ValueError:
                raise Refused(Skip.BAD_ENTITY) from None
    return None
