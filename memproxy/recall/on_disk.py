"""A question put to a memory of which no copy is held: the indexes propose, and what they propose is weighed there.

Two trips, before the question's vector and after. What is found is weighed on the connection's thread too: somebody
else may have the event loop meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from memproxy.interfaces import Connection, Vectors
from memproxy.model import Entity, FactStatus, ItemKind
from memproxy.recall.evidence import Evidence, gather
from memproxy.recall.linked import BEST, FETCHED, things
from memproxy.recall.linked import named as names_in
from memproxy.recall.query import Query
from memproxy.recall.ranking import Weights, foremost, leading
from memproxy.recall.terms import statement
from memproxy.store import index, search


class OnDisk:
    """One question to the memory of an entity that has this extent."""

    def __init__(self, entity: Entity, extent: search.Extent, query: Query, weights: Weights, *, follows: bool) -> None:
        """`follows`: whether the names in the best passages lead to others."""
        self._entity = entity
        self._extent = extent
        self._query = query
        self._weights = weights
        self._follows = follows
        self._held: dict[str, int] = {}  # how many passages hold a term, of all terms that matter so far

    async def propose(
        self,
        conn: Connection,
        vector: Callable[[], Awaitable[Vectors | None]],
        model: str | None,
        *,
        limit: int,
        kinds: Sequence[ItemKind] | None,
        statuses: Sequence[FactStatus],
    ) -> Evidence:
        """What bears on the question by its words and by its vector, which `model` makes meanwhile: `limit` of each,
        and the turns beside. Raises StoreError.
        """
        matched = await conn.in_one_go(lambda here: self._by_words(here, limit, kinds, statuses))
        seen = await vector()
        return await conn.in_one_go(lambda here: self._weighed(here, matched, seen, model))

    async def _by_words(
        self, conn: Connection, limit: int, kinds: Sequence[ItemKind] | None, statuses: Sequence[FactStatus]
    ) -> search.Matched:
        terms, extent = self._query.terms, self._extent
        matched = await search.matching(
            conn, self._entity, extent, terms=terms, limit=limit, kinds=kinds, statuses=statuses
        )
        self._held.update(matched.document_frequencies)
        if not self._follows:
            return matched
        texts = matched.texts(BEST)
        await self._count(conn, {term for text in texts for term in names_in(text)})
        names = things(texts, terms, self._held.__getitem__, extent.passages)
        return await search.also(conn, matched, names, FETCHED)

    async def _weighed(
        self, conn: Connection, matched: search.Matched, vector: Vectors | None, model: str | None
    ) -> Evidence:
        """Everything ranking needs, down to how many passages hold the terms that it will ask for itself."""
        proposal = await search.with_nearest(conn, matched, vector, model, beside=True)
        evidence = gather(
            proposal.candidates,
            passages=proposal.passages,
            document_frequencies=self._held,
            average_length=proposal.average_length,
        )
        best = leading(self._query, evidence, self._weights)
        await self._count(conn, {word for passage in best for word in statement(passage.terms)})
        texts = [candidate.text for candidate in foremost(self._query, evidence, self._weights)]
        await self._count(conn, {term for text in texts for term in names_in(text)})
        return evidence.by_rank_bm25()

    async def _count(self, conn: Connection, words: Iterable[str]) -> None:
        if unknown := [word for word in words if word not in self._held]:
            self._held.update(await index.frequencies(conn, self._entity, unknown))
