"""Writes that are done once, however often they are sent: the header Idempotency-Key, as the IETF draft has it.

The same key with the same request gets the first answer again; with another request 422; while the first is under way
409. A refused request has changed nothing, so it is tried anew. What is kept of an answer: see `store.answered`.
"""

from __future__ import annotations

import hashlib
import hmac
import re

from starlette.responses import Response

from memproxy.assembly.parts import Parts
from memproxy.errors import Problem
from memproxy.server import answers
from memproxy.server.access import Headers
from memproxy.server.api.call import Call
from memproxy.store import answered, meta
from memproxy.store.answered import Place

HEADER = "idempotency-key"
REPLAYED = {"idempotency-replayed": "true"}
# Answers without a word of what was said: they may outlive what they tell of.
_WORDLESS = (answers.Closed, answers.Deleted, answers.Denial, answers.Ids, answers.Preferences, answers.Retried)
_KEY = re.compile("[!-~]{1,255}")
_WHAT = "Idempotency-Key is 1 to 255 visible ASCII characters, and stands there once"


class Once:
    """The writes of one server that came with a key."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._secret: bytes | None = None
        self._under_way: set[Place] = set()

    async def __call__(self, call: Call) -> Response:
        """Answer a write, or say again what was answered. Raises Problem."""
        given = Headers(call.request.scope["headers"])
        key = given.get(HEADER)
        if key is None or not call.route.once:
            return await call.route.handler(call)
        if given.repeated(HEADER) or not _KEY.fullmatch(key):
            raise Problem(400, "That is no key", f"{_WHAT}.")
        entity = call.entity.name if "entity" in call.route.segments else answered.NOBODY
        place = Place(entity, await self._hash("key", _caller(call), key))
        request = await self._hash("request", *_request(call), await call.body())
        if place in self._under_way:
            raise Problem(409, "A request with this Idempotency-Key is under way", "Try again when it is answered.")
        self._under_way.add(place)
        try:
            return await self._again(place, request) or await self._first(call, place, request)
        finally:
            self._under_way.discard(place)

    async def _again(self, place: Place, request: str) -> Response | None:
        now = self._parts.clock.now()
        known = await self._parts.db.read(lambda conn: answered.get(conn, place, now))
        if known is None:
            return None
        if known.request != request:
            raise Problem(422, "This Idempotency-Key was used for another request", "Use a new key for each write.")
        if known.body is None:
            raise Problem(410, "That was done", "Something was forgotten or erased since, and the answer with it.")
        return Response(known.body, known.status, REPLAYED, media_type="application/json")

    async def _first(self, call: Call, place: Place, request: str) -> Response:
        db, now, words = self._parts.db, self._parts.clock.now(), call.route.answer not in _WORDLESS
        await db.write(lambda conn: answered.begin(conn, place, request, now, words=words))
        try:
            response = await call.route.handler(call)
        except BaseException:  # cancellation too: whatever it was, there is no answer to keep
            await db.write(lambda conn: answered.give_up(conn, place))
            raise
        status, body = response.status_code, bytes(response.body)
        await db.write(lambda conn: answered.finish(conn, place, status, body))
        return response

    async def _hash(self, *parts: str | bytes) -> str:
        if self._secret is None:
            self._secret = await self._parts.db.write(meta.secret)
        digest = hmac.new(self._secret, b"answered", hashlib.sha256)
        for part in parts:
            data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
            digest.update(b"%d\0" % len(data) + data)
        return digest.hexdigest()


def _caller(call: Call) -> str:
    key = call.caller.key
    return "" if key is None else str(key.key_env or key.key_file)


def _request(call: Call) -> tuple[str, str, bytes]:
    return call.route.method, call.request.scope["path"], call.request.scope["query_string"]
