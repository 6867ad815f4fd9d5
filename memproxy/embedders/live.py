"""The embedders of a running memory: the configured one, and those that made the vectors which still serve somebody."""

from __future__ import annotations

from memproxy.interfaces import Embedder


class Embedders:
    """What can be embedded with now. Whoever embeds asks here each time: a provider may come, an old model go."""

    def __init__(self, current: Embedder | None = None, problem: str | None = None) -> None:
        self.current = current  # the configured one
        self.problem = problem  # why there is none
        self.failing = False  # … though one is wanted
        self.earlier: dict[str, Embedder] = {}  # those of other models whose vectors were found at the start
        self.floors: dict[str, float] = {}  # of models whose floor was found anew among the passages of this memory
        self.missing: dict[str, str] = {}  # models of which there are such vectors but no embedder, and why

    def named(self, model: str | None) -> Embedder | None:
        """The embedder of a model; for somebody without vectors (None), the configured one. None: words must do."""
        if self.current is not None and model in (None, self.current.info.model):
            return self.current
        return self.earlier.get(model) if model is not None else None

    def floor(self, embedder: Embedder) -> float:
        """The cosine below which nothing counts as related, by a model of these."""
        return self.floors.get(embedder.info.model, embedder.info.floor)

    @property
    def why_none(self) -> str | None:
        """Why somebody is searched by words alone, in a word (of metrics); None where it is not to be otherwise."""
        if self.current is None:
            return "failed" if self.failing else None
        return "reembedding"

    @property
    def replaced(self) -> list[str]:
        """The models whose vectors are to be made anew by the configured one."""
        return [*self.earlier, *self.missing]

    async def retire(self) -> None:
        """Close those that nobody is searched by any more."""
        earlier, self.earlier, self.missing = self.earlier, {}, {}
        for embedder in earlier.values():
            await embedder.close()

    async def close(self) -> None:
        """Close all of them."""
        await self.retire()
        if self.current is not None:
            await self.current.close()
