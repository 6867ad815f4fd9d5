"""One request, read straight down: recognise, recall, splice, relay, record."""

from __future__ import annotations

import logging
import secrets
import time
from dataclasses import dataclass, replace
from datetime import datetime

from starlette.types import Receive, Scope, Send

from memproxy import wire
from memproxy.assembly.hop_mark import HEADER
from memproxy.assembly.parts import Parts
from memproxy.errors import NotUnderstood, Problem, StoreError, places
from memproxy.events import Skip
from memproxy.interfaces import WireFormat
from memproxy.memory import Conversation, Heard, Prepared
from memproxy.model import ChatRequest, Entity, Exchange, MemoryMode, Reply
from memproxy.providers.vendors import VENDORS
from memproxy.server import dialects, identity, targets
from memproxy.server.access import Access, Caller, Headers
from memproxy.server.bodies import Body, read_body, send_error
from memproxy.server.counting import count
from memproxy.server.dialects import ErrorBody
from memproxy.server.outcome import CLIENT_GONE, OnComplete
from memproxy.server.relay import Outcome, UpstreamRequest, relay
from memproxy.server.upstream import UpstreamClient
from memproxy.wire.responses import fetched_id

log = logging.getLogger(__name__)

MAX_TEXT = 4_000_000  # characters of all messages; over it, reading would hold up everybody else

PASSTHROUGH = "passthrough"  # what requests that are no chats are counted as
RESPONSES = wire.Responses()  # whose answers can be fetched later


@dataclass(frozen=True, slots=True)
class Call:
    """One chat request as it came in."""

    form: WireFormat
    vendor: str
    path: identity.Named
    headers: Headers
    body: Body
    caller: Caller
    id: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What memory does with one chat request: whose it is, what was recalled, whether it is recorded."""

    conversation: Conversation | None
    heard: Heard | None
    prepared: Prepared

    def listens(self, form: WireFormat) -> bool:
        """Whether memory has a use for the answer."""
        return form.records and self.conversation is not None

    def records(self, form: WireFormat) -> bool:
        """Whether the exchange will be stored."""
        return form.records and self.conversation is not None and self.conversation.mode in ("full", "write")


class Proxy:
    """Everything outside `/memproxy/`, and `/memproxy/as/{entity}/…`."""

    def __init__(self, parts: Parts, access: Access, client: UpstreamClient) -> None:
        self._parts = parts
        self._access = access
        self._client = client
        self._targets = {vendor: targets.resolve(parts.settings, vendor) for vendor in VENDORS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        arrived = time.perf_counter()
        headers, method = Headers(scope["headers"]), scope["method"]
        path = identity.split_path(scope["raw_path"])
        form = wire.route(method, path.path)
        vendor = targets.family(form.name if form else None, path.path, headers)
        caller = self._access.caller(headers, own_route=False)
        if caller is None:
            problem = Problem(401, "A key is needed: send it as X-MemG-Key")
            await self._refuse(send, form, dialects.error_body(form, vendor), problem)
        elif form is None:
            await self._pass(scope, receive, send, headers, path, vendor, caller)
        else:
            body = await read_body(scope, receive)
            if body is not None:  # else the client left before it had sent its request
                call = Call(form, vendor, path, headers, body, caller, secrets.token_hex(16))
                await self._answer(scope, send, call, arrived)

    async def _answer(self, scope: Scope, send: Send, call: Call, arrived: float) -> None:
        """Answer a chat request: recall, splice, relay, record."""
        metrics, form, method = self._parts.metrics, call.form, scope["method"]
        try:
            plan = await self._plan(call)
        except identity.Forbidden as problem:
            await self._refuse(send, form, form.error, problem)
            return
        body, headers = call.body.data if call.body.whole else None, scope["headers"]
        if plan.prepared.additions:
            body, plan = await self._splice(call, plan)
        call.body.drop_plain()
        if plan.prepared.additions:  # spliced into the body as it is without its coding
            headers = [pair for pair in headers if pair[0] != b"content-encoding"]
        self._observe(plan.prepared)
        base_url = self._targets[call.vendor]
        mark = self._parts.mark.for_target(base_url)
        upstream = UpstreamRequest(base_url, method, call.path.path, scope["query_string"], headers, body, mark)
        added = [(b"x-memg-request-id", call.id.encode()), (b"x-memg-memory", _memory_header(plan.prepared))]
        metrics.first_byte.observe(time.perf_counter() - arrived)
        outcome = await self._relay(scope, send, call, upstream, added, plan)
        count(metrics, form.name, outcome)
        self._show(call, plan, outcome, arrived)

    async def _pass(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: Headers,
        path: identity.Named,
        vendor: str,
        caller: Caller,
    ) -> None:
        """Answer a request that is no chat: relay it, and record an answer that is fetched by it and was waited for."""
        error_body, method, base_url = dialects.error_body(None, vendor), scope["method"], self._targets[vendor]
        if not self._may_pass(headers, path, caller):
            await self._refuse(send, None, error_body, identity.Forbidden())
            return
        record = await self._fetching(method, headers, path, caller)
        mark = self._parts.mark.for_target(base_url) if fetched_id(method, path.path) is not None else None
        outcome = await relay(
            scope,
            receive,
            send,
            self._client,
            UpstreamRequest(base_url, method, path.path, scope["query_string"], scope["headers"], None, mark),
            reader=RESPONSES.reader if record else None,
            response_headers=[(b"x-memg-request-id", secrets.token_hex(16).encode())],
            on_complete=record,
            error_body=error_body,
        )
        count(self._parts.metrics, PASSTHROUGH, outcome)

    # --- before ----------------------------------------------------------------------------------------------

    def _may_pass(self, headers: Headers, path: identity.Named, caller: Caller) -> bool:
        """Whether a request that memory has no part in names nobody outside its key's list all the same."""
        try:
            identity.entity_name(headers, path, {}, self._parts.settings, caller)
        except identity.Forbidden:
            return False
        except identity.Refused:
            pass  # no usable name is no one's name
        return True

    async def _plan(self, call: Call) -> Plan:
        """Who speaks, and what bears on what they say. Raises Forbidden; everything else becomes a skip."""
        started = time.perf_counter()

        def skipped(reason: Skip, conversation: Conversation | None = None, heard: Heard | None = None) -> Plan:
            milliseconds = (time.perf_counter() - started) * 1000
            return Plan(conversation, heard, Prepared(None, reason, milliseconds))

        try:
            kept_out = self._kept_out(call)
            if kept_out is not None:
                return skipped(kept_out)
            conversation, heard = await self._understand(call)
        except identity.Refused as refused:
            return skipped(Skip(refused.reason))
        except StoreError:
            return skipped(Skip.STORE)
        except identity.Forbidden:
            raise
        except Exception as error:  # fail open: a fault in reading a request must not cost the person their answer
            log.error("a request could not be read: %s at %s", type(error).__name__, places(error))
            return skipped(Skip.ERROR)
        if identity.memory_mode(call.headers) == "write":
            return skipped(Skip.WRITE_ONLY, conversation, heard)
        placement = self._parts.settings.placement(call.vendor)
        prepared = await self._parts.memory.prepare(conversation, heard, call.id, placement)
        return Plan(conversation, heard, prepared)

    def _kept_out(self, call: Call) -> Skip | None:
        """Why memory has no part in a request, as far as that is known without reading it."""
        if self._parts.mark.made_here(call.headers.get(HEADER)):
            return Skip.HOP
        if not self._parts.settings.memory.enabled:
            return Skip.DISABLED
        if self._access.foreign(call.headers):
            return Skip.ORIGIN
        if not call.body.whole and identity.memory_mode(call.headers) != "off":
            return Skip.TOO_LARGE
        return None

    async def _understand(self, call: Call) -> tuple[Conversation, Heard]:
        """Who speaks and what they say. Raises Refused where memory has no part in it, Forbidden, StoreError."""
        mode = identity.memory_mode(call.headers)
        request = await self._decoded(call) if mode != "off" else None
        fields = dict(request.fields) if request is not None else {}
        name = identity.entity_name(call.headers, call.path, fields, self._parts.settings, call.caller)
        if mode == "off":
            raise identity.Refused(Skip.OFF)
        if request is None:
            raise identity.Refused(Skip.BODY)
        if sum(len(message.text) for message in request.messages) > MAX_TEXT:
            raise identity.Refused(Skip.TOO_LARGE)
        heard = self._parts.memory.hear(request)
        if self._parts.memory.is_chore(heard):
            raise identity.Refused(Skip.CHORE)
        if name is None:
            name = await self._nobody()
        # A mere count of tokens leaves nothing: it reads what the request after it will be given.
        conversation = self._conversation(name, mode if call.form.records else "read", call.headers, call.caller)
        return conversation, heard

    async def _decoded(self, call: Call) -> ChatRequest | None:
        try:
            return call.form.decode(await call.body.plain(), call.path.path)
        except NotUnderstood:
            return None

    async def _fetching(self, method: str, headers: Headers, path: identity.Named, caller: Caller) -> OnComplete | None:
        """What is to be done with an answer that a request fetches, where memory waits for it."""
        answer_id, mode = fetched_id(method, path.path), identity.memory_mode(headers)
        if answer_id is None or mode not in ("full", "write") or not self._parts.settings.memory.enabled:
            return None
        if self._access.foreign(headers) or self._parts.mark.made_here(headers.get(HEADER)):
            return None
        try:
            name = identity.entity_name(headers, path, {}, self._parts.settings, caller) or await self._nobody()
            conversation = self._conversation(name, mode, headers, caller)
        except (identity.Refused, StoreError):
            return None
        if not await self._parts.memory.awaits(conversation.entity, answer_id):
            return None

        async def record(outcome: Outcome) -> None:
            if outcome.reply is not None:
                await self._parts.memory.record_fetched(conversation, answer_id, outcome.reply)

        return record

    async def _nobody(self) -> str:
        """The entity of a request that names none: `default`, only for one person on one machine."""
        if not self._parts.settings.loopback or self._access.keyed or not await self._parts.default_is_open():
            raise identity.Refused(Skip.NO_ENTITY)
        return "default"

    def _conversation(self, name: str, mode: MemoryMode, headers: Headers, caller: Caller) -> Conversation:
        settings = self._parts.settings
        zone = identity.time_zone(headers, settings)
        if zone is None:
            self._parts.metrics.ignored_headers.labels("x-memg-timezone").inc()
        return Conversation(
            entity=Entity(name),
            session_name=identity.session_name(headers),
            mode=mode,
            time=self._said_at(headers, caller),
            timezone=zone.key if zone is not None else settings.timezone,
            recovers=identity.recovers(headers, name, settings),
        )

    def _said_at(self, headers: Headers, caller: Caller) -> datetime:
        now = self._parts.clock.now()
        text = identity.client_time(headers, self._parts.settings, caller)
        if text is None:
            if headers.get("x-memg-time") is not None:
                self._parts.metrics.ignored_headers.labels("x-memg-time").inc()
            return now
        try:
            return identity.read_time(text, now)
        except (ValueError, OverflowError):
            self._parts.metrics.ignored_headers.labels("x-memg-time").inc()
            return now

    async def _splice(self, call: Call, plan: Plan) -> tuple[bytes | None, Plan]:
        """The body to send: the client's own bytes, with the block in them where it has a place."""
        body = call.body
        try:
            return call.form.inject(await body.plain(), plan.prepared.additions), plan
        except NotUnderstood as error:
            reason = Skip(error.reason)
        except Exception as error:  # fail open: the client's own bytes are always at hand
            log.error("a block could not be spliced in: %s at %s", type(error).__name__, places(error))
            reason = Skip.ERROR
        return body.data, replace(plan, prepared=Prepared(None, reason, plan.prepared.milliseconds))

    # --- after -----------------------------------------------------------------------------------------------

    async def _relay(
        self,
        scope: Scope,
        send: Send,
        call: Call,
        upstream: UpstreamRequest,
        added: list[tuple[bytes, bytes]],
        plan: Plan,
    ) -> Outcome:
        form, listens = call.form, plan.listens(call.form)

        async def record(outcome: Outcome) -> None:
            if 200 <= outcome.status < 300 and outcome.reply is not None:
                await self._record(call, plan, outcome.reply, upstream)

        outcome = await relay(
            scope,
            call.body.receive,
            send,
            self._client,
            upstream,
            reader=form.reader if listens else None,
            response_headers=added,
            on_complete=record if listens else None,
            error_body=form.error,
        )
        if plan.records(form) and outcome.status == CLIENT_GONE:
            # Gone before the answer began: what the person said was said all the same.
            self._client.spawn(self._record(call, plan, Reply(), upstream))
        return outcome

    async def _record(self, call: Call, plan: Plan, reply: Reply, upstream: UpstreamRequest) -> None:
        conversation, heard = plan.conversation, plan.heard
        if conversation is None or heard is None:
            return
        if conversation.mode == "read":
            self._parts.memory.follow(conversation, heard.sent, plan.prepared, reply)
            return
        await self._parts.memory.record(
            Exchange(
                entity=conversation.entity,
                session_name=conversation.session_name,
                messages=heard.said.messages,
                reply=reply,
                time=conversation.time,
                timezone=conversation.timezone,
                request_id=call.id,
                credential=self._borrow(upstream, call.headers, heard.sent),
                previous=heard.sent.previous,
            )
        )

    def _borrow(self, upstream: UpstreamRequest, headers: Headers, request: ChatRequest) -> str | None:
        """Keep the caller's credential for extraction at the very endpoint it arrived for, where that is allowed."""
        purse = self._parts.plan.purse
        if purse is None:
            return None
        names = ("authorization", "api-key", "x-api-key")
        credential = {name: value for name in names if (value := headers.get(name)) is not None}
        return purse.keep(upstream.url, credential, request.model)

    # --- counting --------------------------------------------------------------------------------------------

    def _observe(self, prepared: Prepared) -> None:
        metrics = self._parts.metrics
        if prepared.block is not None:
            metrics.injections.inc()
            metrics.injected_tokens.inc(prepared.block.tokens)
        elif prepared.skip is not None:
            metrics.skips.count(prepared.skip)

    def _show(self, call: Call, plan: Plan, outcome: Outcome, arrived: float) -> None:
        """Let whoever looks on see that a request passed: none whose memory is off, nobody who switched theirs off."""
        if identity.memory_mode(call.headers) == "off":
            return
        named = plan.conversation is not None and plan.prepared.skip is not Skip.SWITCHED_OFF
        self._parts.live.add(
            self._parts.clock.now(),
            call.id,
            plan.conversation.entity.name if plan.conversation is not None and named else None,
            call.form.name,
            wire.ending(call.form),
            plan.prepared,
            outcome.status,
            arrived,
            outcome.first_byte_at,
            streamed=plan.heard is not None and plan.heard.sent.stream,
        )

    async def _refuse(self, send: Send, form: WireFormat | None, error_body: ErrorBody, problem: Problem) -> None:
        count(self._parts.metrics, form.name if form else PASSTHROUGH, Outcome(problem.status))
        code = "unauthorized" if problem.status == 401 else "forbidden"
        await send_error(send, problem.status, error_body(problem.status, problem.title, code))


def _memory_header(prepared: Prepared) -> bytes:
    recovered = sum(addition.role is not None for addition in prepared.additions)
    more = f"; recovered={recovered}" if recovered else ""
    if prepared.block is not None:
        items, tokens = len(prepared.block.items), prepared.block.tokens
        return f"injected; items={items}; tokens={tokens}; ms={prepared.milliseconds:.0f}{more}".encode()
    return f"skipped; reason={prepared.skip or Skip.ERROR}{more}".encode()
