"""The local embedder: one model and one thread a process, queries ahead of documents, never on the event loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from memproxy.embedders.calibration import calibrate
from memproxy.embedders.catalog import marked
from memproxy.embedders.model_files import ModelFiles, bundled, from_directory
from memproxy.embedders.onnx_model import OnnxModel
from memproxy.embedders.thread import Priority, PriorityThread
from memproxy.interfaces import Vectors
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed

PIECE_CHARS = 1000  # of documents between two looks at whether a query waits: some 50 ms


class LocalEmbedder:
    """Embeds with a model on this machine. The thread starts with the first use and ends with `close`."""

    def __init__(self, files: ModelFiles) -> None:
        """Load the model; takes some tenths of a second. Raises EmbedderError."""
        self._files = files
        self._model = OnnxModel(files)
        width = int(self._model.embed([self._model.tokens("width")]).shape[1])
        floor, duplicate = files.floor, files.duplicate
        if floor is None or duplicate is None:
            measured = calibrate(self._model, files)
            floor, duplicate = floor or measured[0], duplicate or measured[1]
        # A directory's name says nothing of what lies in it: another width or prefix is another model.
        name = files.name if files.floor is not None else f"{files.name}@{width}{marked(files.document_prefix)}"
        self.info = EmbedderInfo(name, width, floor, duplicate)
        self._thread = PriorityThread("memproxy-embedder")

    async def warm(self) -> None:
        """Run the model once, so that the first question is as fast as the next. Raises EmbedderError."""
        await self.embed_query("warm")

    async def embed_query(self, text: str) -> Vectors:
        """One unit vector; goes ahead of documents that wait. Raises EmbedderError."""
        vectors = await self._thread.run(Priority.QUERY, partial(self._embed, [self._files.query_prefix + text]))
        return vectors.reshape(-1)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order. Raises EmbedderError."""
        out = np.zeros((len(texts), self.info.dimensions), np.float32)
        prefixed = [self._files.document_prefix + text for text in texts]
        # Texts of about one length go together (and wait together), so that a query waits for one small piece at most.
        order = sorted(range(len(prefixed)), key=lambda i: len(prefixed[i]))
        for piece in _pieces(order, prefixed):
            out[piece] = await self._thread.run(Priority.DOCUMENT, partial(self._embed, [prefixed[i] for i in piece]))
        return out

    async def close(self) -> None:
        """End the thread, after the call that runs; what waits fails with EmbedderError."""
        await self._thread.close()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        return self._model.embed([self._model.tokens(text) for text in texts])


def _pieces(order: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
    """The row numbers in pieces of at most PIECE_CHARS characters, or of one text."""
    piece: list[int] = []
    held = 0
    for row in order:
        if piece and held + len(texts[row]) > PIECE_CHARS:
            yield piece
            piece, held = [], 0
        piece.append(row)
        held += len(texts[row])
    if piece:
        yield piece


def open_local(settings: Embed) -> LocalEmbedder:
    """The factory of provider "local". Raises EmbedderError."""
    return LocalEmbedder(from_directory(settings) if settings.dir else bundled())
