"""The text index: which passages of an entity hold which terms. It can be dropped and made again from the rows.

FTS5 has no partitions, and its tokenizers disagree with our terms (which are stemmed, folded and cut already, CJK
n-grams among them). So what is indexed is not a term but 16 hex characters that stand for *this term of this entity*:
each entity has posting lists of its own, whatever others write; any character survives; and no word or name stands
in the index. `content=''` keeps no second copy of the text, `detail=none` no positions: scoring is done elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memproxy.interfaces import Connection, Row
from memproxy.lazy import Lazy
from memproxy.model import Entity
from memproxy.store import vectors
from memproxy.store.rows import column, scope_token

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

_REBUILD_STEP = 1000
_MOST_POSTINGS = 5000  # read for one query; the rarest terms go first


@dataclass(frozen=True, slots=True)
class Posted:
    """The passages that hold some terms."""

    frequencies: Mapping[str, int]  # how many hold each term: exact
    ids: Mapping[str, NDArray[np.int64]]  # which: of the rarest terms; words that are everywhere may be left out

    def best(self, weights: Mapping[str, float], limit: int) -> list[int]:
        """Up to `limit` passages: those with the greatest sum of the weights of what they hold, then the newest."""
        held = [(self.ids[term], weight) for term, weight in weights.items() if term in self.ids]
        if not held:
            return []
        ids, where = np.unique(np.concatenate([ids for ids, _ in held]), return_inverse=True)
        told = np.bincount(where, np.repeat([weight for _, weight in held], [len(ids) for ids, _ in held]))
        best: list[int] = ids[np.lexsort((-ids, -told))[:limit]].tolist()
        return best


@lru_cache(16_384)  # people use the same words again and again
def token(scope: str, term: str) -> str:
    """What stands for a term of an entity in the index; `scope` is the entity's scope token."""
    return hashlib.blake2b(f"{scope}\0{column(term)}".encode(), digest_size=8).hexdigest()


def tokens(entity: Entity, terms: str) -> str:
    """The indexed form of a passage's terms: each once, sorted, so that it can be removed by saying it again."""
    scope = scope_token(entity)
    return " ".join(sorted({token(scope, term) for term in terms.split()}))


async def add_text(conn: Connection, entity: Entity, terms_by_id: Mapping[int, str]) -> None:
    """Index passages that were just stored."""
    rows = [{"id": passage_id, "tokens": tokens(entity, terms)} for passage_id, terms in terms_by_id.items()]
    await conn.many("text_index_add", rows)


async def remove_text(conn: Connection, entity: Entity, terms_by_id: Mapping[int, str]) -> None:
    """Take passages out of the index; the terms must be those they were added with."""
    rows = [{"id": passage_id, "tokens": tokens(entity, terms)} for passage_id, terms in terms_by_id.items()]
    await conn.many("text_index_remove", rows)


async def frequencies(conn: Connection, entity: Entity, terms: Iterable[str]) -> dict[str, int]:
    """In how many of the entity's passages each term occurs. Exact."""
    scope = scope_token(entity)
    by_token = {token(scope, term): term for term in terms}
    rows = await conn.all("text_index_frequencies", tokens=json.dumps(list(by_token)))
    return {by_token[row["token"]]: int(row["passages"]) for row in rows}


async def postings(conn: Connection, entity: Entity, terms: Iterable[str]) -> Posted:
    """Which of the entity's passages hold the terms. No token stands for a term of another."""
    scope = scope_token(entity)
    by_token = {token(scope, term): term for term in terms}
    rows = await conn.all("text_index_postings", tokens=json.dumps(list(by_token)), most=_MOST_POSTINGS)
    found = {by_token[row["token"]]: row for row in rows}
    return Posted(
        {term: int(found[term]["passages"]) if term in found else 0 for term in by_token.values()},
        {term: np.array(json.loads(row["ids"]), np.int64) for term, row in found.items() if row["ids"]},
    )


async def optimize_text(conn: Connection) -> None:
    """Merge the index into one segment, in which nothing of removed passages is left."""
    await conn.run("text_index_optimize")


async def rebuild_indexes(conn: Connection) -> None:
    """Drop the text index and the vector indexes and make them again from the rows."""
    await conn.run("text_index_drop")
    await _build_text_index(conn)
    await vectors.rebuild_vector_indexes(conn)


async def complete_indexes(conn: Connection) -> None:
    """Make the indexes that are missing, or that were left stale by a program without the vector extension."""
    if await conn.one("text_index_exists") is None:
        await _build_text_index(conn)
    await conn.run("text_index_counted")
    await vectors.complete_vector_indexes(conn)


async def _build_text_index(conn: Connection) -> None:
    await conn.run("text_index_create")
    last = 0
    while rows := await conn.all("passages_from", after=last, limit=_REBUILD_STEP):
        await conn.many("text_index_add", [_indexed(row) for row in rows])
        last = int(rows[-1]["id"])


def _indexed(row: Row) -> dict[str, object]:
    entity = Entity(name=row["entity"], tenant=row["tenant"])
    return {"id": row["id"], "tokens": tokens(entity, row["terms"])}
