"""A deterministic embedder without a model: texts that share words are near one another. For tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memproxy.folding import fold
from memproxy.interfaces import Vectors
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed

DIMENSIONS = 256
KNOWN_WORDS = 8192  # whose directions are kept; others are made anew


class HashEmbedder:
    """Each word (each pair of characters, in scripts without blanks) is a fixed random direction; a text their sum."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.info = EmbedderInfo(model=f"hash-{dimensions}", dimensions=dimensions, floor=0.25, duplicate=0.95)
        self._direction = lru_cache(KNOWN_WORDS)(self._made)

    async def embed_query(self, text: str) -> Vectors:
        """One unit vector."""
        return self._embed(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text."""
        rows = [self._embed(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.info.dimensions), np.float32)

    async def close(self) -> None:
        """Nothing to give back."""

    def _embed(self, text: str) -> Vectors:
        words = re.findall(r"[\u3040-\u9fff]{2}|\w+", fold(text)) or [""]
        total: Vectors = np.sum([self._direction(word) for word in words], axis=0, dtype=np.float32)
        return total / max(float(np.linalg.norm(total)), 1e-12)

    def _made(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        vector = np.random.default_rng(seed).standard_normal(self.info.dimensions).astype(np.float32)
        direction: Vectors = vector / np.float32(np.linalg.norm(vector))
        return direction


def open_hash(settings: Embed) -> HashEmbedder:
    """The factory of provider "hash"."""
    return HashEmbedder(settings.dimensions or DIMENSIONS)
