"""What tests of the vendors' own clients share: answers in the shape of each API, and asking with and without us."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from memproxy.testing import Answer
from memproxy.trust import CLOSE, OPEN
from tests.world import World

MODEL = "scripted"


def one_body(value: Any) -> Answer:
    """An answer in one JSON body."""
    body = json.dumps(value).encode()
    return Answer(200, [("content-type", "application/json"), ("content-length", str(len(body)))], [body])


def response(text: str, *, id: str = "resp_scripted", streaming: bool = False) -> Answer:
    """An answer of OpenAI's Responses."""
    answer = {
        "id": id,
        "object": "response",
        "created_at": 1767225600,
        "status": "in_progress",
        "model": MODEL,
        "output": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    done = {**answer, "status": "completed", "output": [item], "usage": usage}
    if not streaming:
        return one_body(done)
    begun = {**item, "status": "in_progress", "content": []}
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": answer},
        {"type": "response.in_progress", "response": answer},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.content_part.added", **where, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []} for piece in _pieces(text)),
        {"type": "response.output_text.done", **where, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **where, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    sent = [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]
    return Answer(200, [("content-type", "text/event-stream; charset=utf-8")], sent)


def ollama_chat(text: str, *, streaming: bool = False) -> Answer:
    """An answer of Ollama's chat."""
    head = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z"}
    tail = {"done": True, "done_reason": "stop", "total_duration": 5, "eval_count": 3, "eval_duration": 4}
    if not streaming:
        return one_body({**head, "message": {"role": "assistant", "content": text}, **tail})
    values = [{**head, "message": {"role": "assistant", "content": piece}, "done": False} for piece in _pieces(text)]
    values.append({**head, "message": {"role": "assistant", "content": ""}, **tail})
    return Answer(200, [("content-type", "application/x-ndjson")], [json.dumps(v).encode() + b"\n" for v in values])


async def both_ways(world: World, answer: Answer, ask: Callable[[str], Awaitable[Any]]) -> tuple[Any, Any]:
    """What a client sees of one answer when it asks the upstream itself, and when it asks through the proxy."""
    seen = []
    for url in (world.up.url, world.url):
        world.up.reply_answer(answer)
        seen.append(await ask(url))
    return seen[0], seen[1]


def block(sent: bytes) -> str:
    """The block in a request body, wherever it stands; "" without one. There must not be two."""
    blocks = [
        text[text.index(OPEN) : text.index(CLOSE) + len(CLOSE)]
        for text in _strings(json.loads(sent))
        if OPEN in text and CLOSE in text
    ]
    assert len(blocks) <= 1, "more than one block"
    return blocks[0] if blocks else ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _pieces(text: str, size: int = 3) -> Sequence[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
