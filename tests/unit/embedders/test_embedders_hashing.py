"""The embedder for tests: deterministic, and nearer where words are shared."""

from __future__ import annotations

import numpy as np
import pytest

from memproxy.embedders import make_embedder
from memproxy.errors import EmbedderError
from memproxy.settings import Embed
from memproxy.testing import HashEmbedder

pytestmark = pytest.mark.anyio


async def test_texts_that_share_words_are_near_and_others_are_not() -> None:
    embedder = HashEmbedder()
    question = await embedder.embed_query("otters swim")
    near, far = await embedder.embed_documents(["otters swim fast", "rent rises monthly"])
    assert question @ near > 0.7
    assert question @ far < embedder.info.floor


async def test_the_same_text_has_the_same_unit_vector_every_time() -> None:
    one, other = await HashEmbedder().embed_query("Ágnes 花生"), await HashEmbedder().embed_query("Ágnes 花生")
    assert np.array_equal(one, other)
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)
    assert (await HashEmbedder().embed_documents([])).shape == (0, HashEmbedder().info.dimensions)


def test_an_embedder_is_chosen_by_name_and_checked_for_its_width() -> None:
    assert make_embedder(Embed(provider="hash", dimensions=32)).info.dimensions == 32
    with pytest.raises(EmbedderError, match="dimensions"):
        make_embedder(Embed(dimensions=1024))
