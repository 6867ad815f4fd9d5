"""Embedders behind an API: batches, several at a time, unit vectors out, and no text that fails its neighbours."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import numpy as np

from memproxy.calling.access import resolve
from memproxy.calling.connections import Connections, check_status
from memproxy.embedders.calibration import calibrate_remote
from memproxy.embedders.catalog import EMBEDDERS, marked, prefixes
from memproxy.embedders.each import near_nothing
from memproxy.embedders.shapes import SHAPES, Kind, Route, Shape
from memproxy.errors import EmbedderDown, EmbedderError, ProviderBusy, ProviderError, SettingsError
from memproxy.interfaces import Vectors
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed

log = logging.getLogger(__name__)

PROBE_SECONDS = 15.0  # for the first vector, and as long again for those by which the model is measured
PATIENCE = 30.0  # seconds; for one call
LARGEST = 64 << 20  # bytes of an answer: 64 vectors of 4096 numbers, with their digits
AT_ONCE = 4  # calls for documents
TRIES = 3  # … of each, where it fails for now
LONGEST_WAIT = 5.0  # seconds between two tries; where a server names a longer one, whoever asked tries again later
SHORTENED = 2000  # characters to which a text is cut that is refused on its own: most are too long
# Statuses by which a server refuses what it was sent, not who sent it.
_REFUSING = frozenset({"status-400", "status-413", "status-422", "no-vectors"})


class RemoteEmbedder:
    """Embeds by calls to a provider. Made by `open_remote`."""

    def __init__(self, calls: Calls, info: EmbedderInfo, batch: int, query_prefix: str, document_prefix: str) -> None:
        self.info = info
        self.failing: str | None = None  # why the newest call failed
        self._calls = calls
        self._batch = batch
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def embed_query(self, text: str) -> Vectors:
        """One unit vector, in one call that waits for no document's. Raises EmbedderError."""
        try:
            found = await self._calls.vectors([self._query_prefix + text], "query", self.info.dimensions)
        except ProviderError as error:
            raise self._failed(error) from None
        self.failing = None
        return found.reshape(-1)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order. Raises EmbedderError.

        A text that the server refuses, even shortened, gets a vector that is near nothing: it is found by its words.
        """
        pieces = list(_pieces([self._document_prefix + text for text in texts], self._batch))
        if not pieces:
            return np.zeros((0, self.info.dimensions), np.float32)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._piece(piece)) for piece in pieces]
        except ExceptionGroup as failed:
            known, others = failed.split(ProviderError)
            if known is None or others is not None:
                raise
            raise self._failed(_first(known)) from None
        self.failing = None
        return np.concatenate([task.result() for task in tasks])

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    def _failed(self, error: ProviderError) -> EmbedderError:
        told = self._calls.failure(error)
        self.failing = str(told)
        return told

    async def _piece(self, texts: Sequence[str]) -> Vectors:
        """The vectors of one call's texts; where the server refuses them, of each half."""
        try:
            async with self._slots:
                return await self._patiently(texts)
        except ProviderError as error:
            if error.reason not in _REFUSING:
                raise
        if len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([await self._piece(texts[:half]), await self._piece(texts[half:])])
        if len(texts[0]) > SHORTENED:
            return await self._piece([texts[0][:SHORTENED]])
        await self._calls.vectors(["probe"], "document", self.info.dimensions)  # or it is not the text's fault
        log.warning("%s refuses a text of %d characters; it is found by words alone", self.info.model, len(texts[0]))
        return near_nothing(texts[0], self.info.dimensions)

    async def _patiently(self, texts: Sequence[str]) -> Vectors:
        """The vectors, tried again where a call fails for now."""
        for attempt in range(TRIES):
            try:
                return await self._calls.vectors(texts, "document", self.info.dimensions)
            except ProviderBusy as error:
                wait = error.retry_after if error.retry_after is not None else 2.0**attempt * random.uniform(0.5, 1.0)
                if attempt == TRIES - 1 or wait > LONGEST_WAIT or error.reason == "timeout":
                    raise
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")


class Calls:
    """Single calls to a provider over pooled connections."""

    def __init__(self, provider: str, shape: Shape, route: Route) -> None:
        self._provider = provider
        self._shape = shape
        self._route = route
        self._connections = Connections(PATIENCE, LARGEST)
        self._refused: frozenset[str] = frozenset()

    async def vectors(self, texts: Sequence[str], kind: Kind, dimensions: int | None) -> Vectors:
        """Unit vectors of texts, in order, each of so many dimensions (None: all of as many as the first).

        Raises ProviderError; with reason "no-vectors" for an answer that holds none, or some that are none.
        """
        refused = self._refused
        for _ in range(len(self._shape.optional) + 1):
            body = self._shape.body(self._route, texts, kind, refused)
            response = await self._connections.post(
                self._shape.url(self._route), body, self._route.headers, self._route.signer
            )
            said = response.text.lower() if response.status_code in (400, 422) else ""
            left = {name: words for name, words in self._shape.optional.items() if name not in refused}
            newly = next((name for name, words in left.items() if any(word in said for word in words)), None)
            if newly is None:
                break
            refused |= {newly}
        check_status(response)
        self._refused = refused
        try:
            rows = np.array(self._shape.vectors(response.json()), dtype=np.float64)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ProviderError("no-vectors") from None
        return _unit(rows, len(texts), dimensions)

    def failure(self, error: ProviderError) -> EmbedderDown:
        """What to tell of a call that failed."""
        hint = {
            "status-401": " (the key is refused)",
            "status-403": " (the key is refused)",
            "status-402": " (the account is empty)",
            "unpaid": " (the account is empty)",
            "status-404": " (no such model or address)",
        }
        where = urlsplit(self._route.base_url).netloc.rpartition("@")[2]
        told = f"{self._provider} at {where}: {error.reason}{hint.get(error.reason, '')}"
        return EmbedderDown(told, passing=isinstance(error, ProviderBusy))

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()


def _unit(rows: np.ndarray, count: int, dimensions: int | None) -> Vectors:
    """Rows of unit length. Raises ProviderError where they are too few, too long, or no numbers."""
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1] or not np.isfinite(rows).all():
        raise ProviderError("no-vectors")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not norms.all():
        raise ProviderError("no-vectors")
    if dimensions is not None and rows.shape[1] != dimensions:
        raise ProviderError(f"the model has {rows.shape[1]} dimensions, not {dimensions}")
    unit: Vectors = (rows / norms).astype(np.float32)
    return unit


def _pieces(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


def _first(failed: BaseExceptionGroup[ProviderError]) -> ProviderError:
    error: BaseException = failed
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, ProviderError)
    return error


async def open_remote(settings: Embed, known: EmbedderInfo | None = None, probe: bool = True) -> RemoteEmbedder:
    """Ask the provider for a first vector, and measure its model unless that is `known` (then `probe` may be left out).

    Raises SettingsError where a key, address or model is missing, EmbedderError where no usable vector comes in time;
    of a known model none need come, as long as it fails for now only.
    """
    row = EMBEDDERS[settings.provider]
    opened = resolve("embed", settings.provider, row.access, settings.base_url, settings.api_key)
    model = settings.model or row.model
    if model is None:
        raise SettingsError(f"embed.model: provider {settings.provider} has no model of its own; name yours")
    wanted = settings.dimensions or row.dimensions
    route = Route(opened.base_url, model, opened.headers, wanted, row.quirks, settings.api_version, opened.signer)
    calls = Calls(settings.provider, SHAPES[row.shape], route)
    usual = prefixes(model)
    query_prefix = usual[0] if settings.query_prefix is None else settings.query_prefix
    document_prefix = usual[1] if settings.document_prefix is None else settings.document_prefix
    failing: str | None = None
    if known is not None and not probe:
        return RemoteEmbedder(calls, known, row.batch, query_prefix, document_prefix)
    try:
        found = await _first_vector(calls, document_prefix, wanted)
        if known is None or known.dimensions != found:
            levels = await _measured(calls, found, row.batch, query_prefix, document_prefix)
            name = f"{settings.provider}/{model}@{found}{marked(document_prefix, usual[1])}"
            known = EmbedderInfo(name, found, *levels)
    except (TimeoutError, ProviderError) as error:
        told = ProviderBusy(f"no vector within {PROBE_SECONDS:.0f} s") if isinstance(error, TimeoutError) else error
        if known is None or not isinstance(told, ProviderBusy):
            await calls.close()
            raise calls.failure(told) from None
        failing = str(calls.failure(told))
        log.warning("%s; recall goes by words until it answers", failing)
    except BaseException:  # cancellation too: no connection may be left behind
        await calls.close()
        raise
    embedder = RemoteEmbedder(calls, known, row.batch, query_prefix, document_prefix)
    embedder.failing = failing
    return embedder


async def _first_vector(calls: Calls, prefix: str, wanted: int | None) -> int:
    """How many numbers a vector has. Raises TimeoutError, ProviderError."""
    async with asyncio.timeout(PROBE_SECONDS):
        return int((await calls.vectors([f"{prefix}probe"], "document", wanted)).shape[1])


async def _measured(
    calls: Calls, width: int, batch: int, query_prefix: str, document_prefix: str
) -> tuple[float, float]:
    """(floor, duplicate) of the model. Raises TimeoutError, ProviderError."""

    async def made(texts: Sequence[str], kind: Kind) -> Vectors:
        rows: list[Vectors] = []
        for some in _pieces(texts, AT_ONCE * batch):
            rows += await asyncio.gather(*(calls.vectors(piece, kind, width) for piece in _pieces(some, batch)))
        return np.concatenate(rows)

    async def questions(texts: Sequence[str]) -> Vectors:
        return await made([query_prefix + text for text in texts], "query")

    async def documents(texts: Sequence[str]) -> Vectors:
        return await made([document_prefix + text for text in texts], "document")

    async with asyncio.timeout(PROBE_SECONDS):
        return await calibrate_remote(questions, documents)
