"""The seams: what can be swapped, each as one small protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from memproxy.model import Addition, ChatRequest, EmbedderInfo, Reply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Vectors: TypeAlias = "NDArray[np.float32]"
Row = Mapping[str, Any]


class Clock(Protocol):
    """Where "now" comes from."""

    def now(self) -> datetime:
        """The present moment, timezone-aware, in UTC."""
        ...


class ReplyReader(Protocol):
    """Listens to a copy of an answer as it passes. Never raises: what it cannot read it notes in the reply."""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes, however they were cut. True once the format's terminal event has been seen."""
        ...

    def finish(self) -> Reply:
        """What was understood, once the last byte has been fed (or will never come)."""
        ...


class WireFormat(Protocol):
    """One chat API: bytes to model and back, pure."""

    name: str
    records: bool  # whether what is said in it is an exchange to record; a request that only counts tokens is none

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body, and the path where that says something (its model). Raises NotUnderstood."""
        ...

    def inject(self, body: bytes, additions: Sequence[Addition]) -> bytes:
        """The body with all additions spliced in; every other byte as it came. Raises NotUnderstood: all or nothing."""
        ...

    def reader(self, content_type: str, content_encoding: str) -> ReplyReader:
        """A reader for one answer with these response headers ("" where absent)."""
        ...

    def error(self, status: int, message: str, code: str) -> bytes:
        """An error body in this format's own shape."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors of one model."""

    @property
    def info(self) -> EmbedderInfo:
        """Model name, dimensions and calibration."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """One vector, shape (dimensions,), L2-normalised float32. Goes ahead of waiting documents."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, shape (len(texts), dimensions), in order."""
        ...

    async def close(self) -> None:
        """Give back threads and memory."""
        ...


class Connection(Protocol):
    """A database connection inside one transaction; queries go by the names they have in queries.sql."""

    async def all(self, query: str, **params: Any) -> list[Row]:
        """Every row of a query."""
        ...

    async def one(self, query: str, **params: Any) -> Row | None:
        """The first row, or None."""
        ...

    async def run(self, query: str, **params: Any) -> int:
        """Execute a statement; the number of rows it changed."""
        ...

    async def many(self, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement once for each row of parameters."""
        ...

    async def in_one_go(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run work that awaits nothing but the connection it is given: cheaper than its questions one by one.

        It may run on another thread, so it gives back what it found and touches nothing that others may use meanwhile.
        Raises StoreError where it awaits something else.
        """
        ...


class Database(Protocol):
    """Transactions. One writer, several readers.

    What `read` and `write` run is run `in_one_go` (see `Connection`).
    """

    async def read(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run work on a reader, in one snapshot. Raises StoreUnavailable."""
        ...

    async def snapshot(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """The same for work that awaits other things too, and runs on the event loop. Raises StoreUnavailable."""
        ...

    async def write(self, work: Callable[[Connection], Awaitable[T]], *, within: float = 0.0) -> T:
        """Run work on the writer; returns once it is committed (durable). An exception in work undoes only that work.

        Works that wait at the same time may share a commit, in the order in which they came; one that need not begin at
        once, but `within` so many seconds, may wait for others. Raises StoreUnavailable.
        """
        ...
