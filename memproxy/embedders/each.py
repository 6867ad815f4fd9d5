"""Vectors of many texts of which one that cannot be embedded costs the others nothing."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memproxy.errors import EmbedderDown, EmbedderError
from memproxy.interfaces import Embedder, Vectors
from memproxy.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

log = logging.getLogger(__name__)


async def embed_each(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """One unit vector a text, in order. Raises EmbedderError where the embedder fails, whatever the text.

    A text that it cannot embed, though it can embed others, gets a vector near nothing: it is found by its words.
    """
    try:
        return _checked(await embedder.embed_documents(texts), len(texts), embedder.info.dimensions)
    except EmbedderDown:
        raise
    except EmbedderError:
        if not texts:
            raise
    if len(texts) > 1:
        half = len(texts) // 2
        return np.concatenate([await embed_each(embedder, texts[:half]), await embed_each(embedder, texts[half:])])
    _checked(await embedder.embed_documents(["probe"]), 1, embedder.info.dimensions)  # or it is not the text's fault
    log.warning("%s fails on a text of %d characters; it is found by words alone", embedder.info.model, len(texts[0]))
    return near_nothing(texts[0], embedder.info.dimensions)


def near_nothing(text: str, dimensions: int) -> Vectors:
    """A fixed direction of a text: in so many dimensions, square to everything else as good as surely. Shape (1, n)."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    row = np.random.default_rng(seed).standard_normal((1, dimensions))
    vector: Vectors = (row / np.linalg.norm(row)).astype(np.float32)
    return vector


def _checked(vectors: Vectors, count: int, dimensions: int) -> Vectors:
    """Vectors as they should be: rows of unit length, as wide as the model says. Raises EmbedderError."""
    if vectors.shape != (count, dimensions):
        raise EmbedderError(f"vectors of shape {vectors.shape} came where ({count}, {dimensions}) were expected")
    if not np.isfinite(vectors).all() or not (np.abs(np.linalg.norm(vectors, axis=1) - 1) < 0.01).all():
        raise EmbedderError("vectors came that are not of unit length")
    return vectors
