"""Erasing an entity: everything it ever left, in one transaction. `SqliteDatabase.scrub` then cleans the files."""

from __future__ import annotations

from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.store import entities, meta, passages
from memproxy.store.rows import scoped

SCRUB_PENDING = "scrub_pending"  # set with every erasure, so that a crash before the scrub does not skip it

# Children before the rows they refer to. The names are those of the counts, where they are counted.
_STEPS = (
    ("hidden_spans", "erase_hidden_spans"),
    ("fact_changes", "erase_fact_changes"),
    ("fact_reinforcements", "erase_fact_reinforcements"),
    ("profile_entries", "erase_profile"),
    ("contradictions", "erase_contradictions"),
    ("collisions", "erase_collisions"),
    ("facts", "erase_facts"),
    ("receipt_items", "erase_receipt_items"),
    ("receipts", "erase_receipts"),
    ("placed", "erase_placed"),
    ("jobs", "erase_jobs"),
    ("summaries", "erase_summaries"),
    ("artifacts", "erase_artifacts"),
    ("turns", "erase_turns"),
    ("marks", "erase_marks"),
    ("sessions", "erase_sessions"),
    ("usage", "erase_usage"),
    ("denied_words", "erase_denied_words"),
    ("denied", "erase_denied"),
    ("preferences", "erase_preferences"),
    ("answered", "erase_answered"),
)


async def erase(conn: Connection, entity: Entity) -> dict[str, int]:
    """Remove every row of an entity, with its index entries and vectors; how many of each kind there were.

    A job that is running for it finds its row gone, and whatever it wants to store refused (no such entity).
    """
    vectors = (await entities.counts(conn, entity)).get("vectors", 0)
    deleted = {"passages": await passages.remove_all(conn, entity), "vectors": vectors}
    for name, query in _STEPS:
        deleted[name] = await conn.run(query, **scoped(entity))
    await conn.run("erase_entity", **scoped(entity))
    await meta.put(conn, SCRUB_PENDING, "1")
    return deleted
