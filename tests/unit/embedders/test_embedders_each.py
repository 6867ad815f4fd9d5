"""One text that cannot be embedded costs the others nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from memproxy.embedders.each import embed_each
from memproxy.embedders.hashing import HashEmbedder
from memproxy.errors import EmbedderDown, EmbedderError
from memproxy.interfaces import Vectors


class Picky(HashEmbedder):
    """Fails on every batch that holds a certain text, as a tokenizer or a server may."""

    def __init__(self, hated: str = "hated", error: EmbedderError | None = None) -> None:
        super().__init__(64)
        self.hated, self.error, self.calls = hated, error or EmbedderError("no"), 0

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if any(self.hated in text for text in texts):
            raise self.error
        return await super().embed_documents(texts)


async def test_l51_one_text_that_fails_does_not_fail_its_batch() -> None:
    texts = [f"text {n}" for n in range(9)]
    texts[4] = "some hated words"
    embedder = Picky()
    vectors = await embed_each(embedder, texts)
    alone = await HashEmbedder(64).embed_documents(texts)
    assert vectors.shape == (9, 64)
    for n in range(9):
        same = float(vectors[n] @ alone[n])
        assert (same < 0.6) if n == 4 else same == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(9), abs=1e-5)


async def test_an_embedder_that_fails_whatever_the_text_is_soon_known_for_it() -> None:
    embedder = Picky("")
    with pytest.raises(EmbedderError):
        await embed_each(embedder, [f"text {n}" for n in range(8)])
    assert embedder.calls == 5  # 8, 4, 2, 1, and a text of ours
    embedder = Picky("", EmbedderDown("gone"))
    with pytest.raises(EmbedderDown):
        await embed_each(embedder, ["one", "two"])
    assert embedder.calls == 1


@pytest.mark.parametrize(
    "rows",
    [np.ones((2, 64)), np.ones((3, 8)), np.full((3, 64), np.nan), np.zeros((3, 64))],
    ids="few narrow nan zero".split(),
)
async def test_what_are_no_vectors_of_the_model_is_an_error(rows: Vectors) -> None:
    class Wrong(HashEmbedder):
        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            return rows.astype(np.float32)

    with pytest.raises(EmbedderError):
        await embed_each(Wrong(64), ["a", "b", "c"])
