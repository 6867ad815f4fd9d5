"""`memproxy bench adapter`: a temporary memory over HTTP, for benchmarks that compare memories.

    POST /ingest {"conversation_id", "turns": [{"id", "session", "time", "speaker", "role", "text", "caption"}, …]}
    POST /search {"conversation_id", "query", "k", "now"} → {"results": [{"ids": [turn ids], "text": …}, …]}, best first
    POST /reset

`text` is what would be injected. The store is a temporary one and goes with the process, unless it is to be kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import uvicorn
from rich.console import Console
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memproxy.bench.dataset import Recorded, RecordedTurn
from memproxy.bench.searched import SearchedMemory, kept_or_temporary, moment, searched_memory
from memproxy.errors import MemproxyError

Body = TypeVar("Body")


class _Ingest(msgspec.Struct, frozen=True):
    conversation_id: str
    turns: list[RecordedTurn]


class _Search(msgspec.Struct, frozen=True):
    conversation_id: str
    query: str
    k: int = 100
    now: str | None = None


async def serve(port: int, store: Path | None, console: Console) -> int:
    """Serve until interrupted; the exit code. The store is a temporary one, unless a folder is named."""
    with kept_or_temporary(store) as folder:
        async with searched_memory(folder) as memory:
            config = uvicorn.Config(application(memory), host="127.0.0.1", port=port, log_level="warning")
            console.print(f"a memory with {memory.model} at http://127.0.0.1:{port}", highlight=False)
            await uvicorn.Server(config).serve()
    return 0


def application(memory: SearchedMemory) -> Starlette:
    """The routes over a memory."""
    turn = (
        asyncio.Lock()
    )  # one after another: what a benchmark measures is not how its own calls get in each other's way

    def route(path: str, kind: type[Body], answer: Callable[[SearchedMemory, Body], Awaitable[Any]]) -> Route:
        async def handle(request: Request) -> Response:
            try:
                body = msgspec.json.decode(await request.body() or b"{}", type=kind)
                async with turn:
                    return JSONResponse(await answer(memory, body))
            except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
                return JSONResponse({"error": str(error)}, 400)
            except MemproxyError as error:
                return JSONResponse({"error": str(error)}, 500)

        return Route(path, handle, methods=["POST"])

    return Starlette(
        routes=[route("/ingest", _Ingest, _ingest), route("/search", _Search, _search), route("/reset", dict, _reset)]
    )


async def _ingest(memory: SearchedMemory, body: _Ingest) -> dict[str, Any]:
    conversation = Recorded(body.conversation_id, body.turns, [])
    stored = await memory.ingest(conversation) if body.turns else 0
    await memory.warm(conversation.id, memory.recaller)
    return {"turns": stored}


async def _search(memory: SearchedMemory, body: _Search) -> dict[str, Any]:
    found = await memory.search(body.conversation_id, body.query, moment(body.now))
    return {"results": [{"ids": list(item.ids), "text": item.text} for item in found.items[: body.k]]}


async def _reset(memory: SearchedMemory, _: dict[str, Any]) -> dict[str, Any]:
    await memory.reset()
    return {}
