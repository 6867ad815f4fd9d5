"""The local embedder: one model and one thread a process, queries ahead of documents, never on the event loop."""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from memproxy.embedders.model_files import ModelFiles, bundled, from_directory
from memproxy.embedders.onnx_model import OnnxModel
from memproxy.errors import EmbedderError
from memproxy.interfaces import Vectors
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed

QUERY, DOCUMENTS = 0, 1
PIECE = 8  # documents between two looks at whether a query waits


@dataclass(order=True)
class _Order:
    priority: int
    number: int
    texts: Sequence[str] = field(compare=False)
    done: Callable[[Vectors | EmbedderError], None] = field(compare=False)


class LocalEmbedder:
    """Embeds with a model on this machine. The thread starts with the first use and ends with `close`."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._model = OnnxModel(files)
        width = int(self._model.embed([self._model.tokens("width")]).shape[1])
        self.info = EmbedderInfo(files.name, width, files.floor, files.duplicate)
        self._orders: queue.PriorityQueue[_Order] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def embed_query(self, text: str) -> Vectors:
        """One unit vector; goes ahead of documents that wait. Raises EmbedderError."""
        vectors = await self._order(QUERY, [self._files.query_prefix + text])
        return vectors.reshape(-1)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order. Raises EmbedderError."""
        if not texts:
            return np.zeros((0, self.info.dimensions), np.float32)
        prefixed = [self._files.document_prefix + text for text in texts]
        # Texts of about one length go together (and wait together), so that a query waits for one small piece at most.
        order = sorted(range(len(prefixed)), key=lambda i: len(prefixed[i]))
        out = np.empty((len(prefixed), self.info.dimensions), np.float32)
        for start in range(0, len(order), PIECE):
            piece = order[start : start + PIECE]
            out[piece] = await self._order(DOCUMENTS, [prefixed[i] for i in piece])
        return out

    async def close(self) -> None:
        """End the thread, after what it has begun."""
        self._closed = True
        thread, self._thread = self._thread, None
        if thread is not None:
            self._orders.put(_Order(QUERY, -1, (), lambda result: None))
            await asyncio.to_thread(thread.join)

    async def _order(self, priority: int, texts: Sequence[str]) -> Vectors:
        if self._closed:
            raise EmbedderError("the embedder is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Vectors] = loop.create_future()

        def settle(result: Vectors | EmbedderError) -> None:
            if future.done():  # whoever asked was cancelled
                return
            if isinstance(result, EmbedderError):
                future.set_exception(result)
            else:
                future.set_result(result)

        def done(result: Vectors | EmbedderError) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, result)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="memproxy-embedder", daemon=True)
            self._thread.start()
        self._orders.put(_Order(priority, next(self._numbers), texts, done))
        return await future

    def _work(self) -> None:
        while True:
            order = self._orders.get()
            if not order.texts:
                return
            try:
                result: Vectors | EmbedderError = self._model.embed([self._model.tokens(t) for t in order.texts])
            except Exception as error:  # whatever the runtime raises belongs to whoever asked, not to this thread
                result = EmbedderError(f"the model failed: {type(error).__name__}")
            order.done(result)


def open_local(settings: Embed) -> LocalEmbedder:
    """The factory of provider "local". Raises EmbedderError."""
    return LocalEmbedder(from_directory(settings) if settings.dir else bundled())
