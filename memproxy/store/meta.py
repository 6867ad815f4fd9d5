"""What a store knows about itself: a few named values that belong to nobody."""

from __future__ import annotations

import secrets

from memproxy.interfaces import Connection


async def get(conn: Connection, key: str) -> str | None:
    """One value."""
    row = await conn.one("meta_get", key=key)
    return None if row is None else str(row["value"])


async def put(conn: Connection, key: str, value: str) -> None:
    """Set one value."""
    await conn.run("meta_put", key=key, value=value)


async def delete(conn: Connection, key: str) -> None:
    """Remove one value."""
    await conn.run("meta_delete", key=key)


async def version(conn: Connection) -> int:
    """The version of the schema."""
    row = await conn.one("schema_version")
    return int(row["version"]) if row is not None else 0


async def integrity(conn: Connection) -> list[str]:
    """What is wrong with the file: nothing, if all is well. Reads all of it."""
    return [str(row["problem"]) for row in await conn.all("meta_integrity")]


async def secret(conn: Connection, key: str = "secret") -> bytes:
    """32 random bytes, made at the first call and the same ever after: for keyed hashes. Needs a write transaction."""
    await conn.run("meta_put_new", key=key, value=secrets.token_hex(32))
    return bytes.fromhex(await get(conn, key) or "")
