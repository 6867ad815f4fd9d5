"""`memproxy models`: which models can be used, which are, and whether they answer."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from memproxy.calling import plugins
from memproxy.calling.access import Access, is_own
from memproxy.calling.connections import Connections
from memproxy.context.budget import estimate_tokens
from memproxy.embedders import PROVIDERS, open_embedder
from memproxy.embedders.catalog import EMBEDDERS
from memproxy.errors import EmbedderError, ProviderError, SettingsError
from memproxy.lifecycle.extractor import DEFAULT_PROVIDER, plan_extraction
from memproxy.prompts import extraction as prompt
from memproxy.providers.catalog import LLMS, known_at, row_of
from memproxy.providers.client import ChatClient, Endpoint, shape_of
from memproxy.providers.prices import Price, price_of
from memproxy.settings import LLM, Embed, Settings, is_loopback

Kind = Literal["extraction", "embedding"]
REACH_SECONDS = 5.0
# About how long what people and models say is, in tokens, and the facts of one call; a turn is embedded twice, as what
# was said and as what was asked.
TURN_TOKENS, ANSWER_TOKENS, FACTS_TOKENS = 50, 150, 120
QUESTION = 'Answer with this JSON object and nothing else: {"facts": []}'


@dataclass(frozen=True, slots=True)
class Option:
    """One kind of model at one provider, and what is known of it without a call that costs anything."""

    kind: Kind
    provider: str
    model: str | None
    key: str  # where the key is, or which variables would hold it
    configured: bool
    reachable: bool | None  # None: not asked, since it is neither configured nor on this machine


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one real call."""

    kind: Kind
    model: str
    state: Literal["ok", "off", "failure"]
    detail: str
    milliseconds: float | None = None
    dimensions: int | None = None
    cost: float | None = None  # dollars for a thousand turns, about; None: the price is not known
    json: str | None = None  # schema, object, or none: what the server accepts of our wish for JSON


async def options(settings: Settings) -> list[Option]:
    """Every row of both catalogs. Only addresses that are configured, or on this machine, are asked for a sign of life.

    That is one GET without a key; whatever the answer says, it is one.
    """
    llm, embed = settings.llm, settings.embed
    chat = llm.provider or (DEFAULT_PROVIDER if llm.api_key is not None else known_at(llm.base_url or ""))
    here = embed.provider == "local"
    found = [Option("embedding", "local", "bge-small-en-v1.5", "none needed", here, True)]
    connections = Connections(REACH_SECONDS)
    try:
        for name, row in LLMS.items():
            found.append(await _option("extraction", name, row.access, row.model, chat == name, llm, connections))
        for name in plugins.names("memproxy.llms"):
            row = row_of(name)
            found.append(await _option("extraction", name, row.access, row.model, chat == name, llm, connections))
        for name in plugins.names("memproxy.embedders"):
            found.append(Option("embedding", name, None, "its package's affair", embed.provider == name, None))
        for name, embedder in EMBEDDERS.items():
            mine = embed.provider == name
            found.append(await _option("embedding", name, embedder.access, embedder.model, mine, embed, connections))
    finally:
        await connections.close()
    return sorted(found, key=lambda option: option.kind, reverse=True)


async def _option(
    kind: Kind,
    name: str,
    access: Access,
    model: str | None,
    configured: bool,
    chosen: LLM | Embed,
    connections: Connections,
) -> Option:
    address = (configured and chosen.base_url) or access.address or ""
    place = next((os.environ[variable] for variable in access.places if os.environ.get(variable)), None)
    address = address.replace("{place}", place) if place else address
    local = is_loopback(urlsplit(address).hostname or "")
    asked = bool(address) and "{" not in address and (configured or local)
    return Option(
        kind,
        name,
        (configured and chosen.model) or model,
        _key(access, address, os.environ, configured and chosen.api_key is not None),
        configured,
        await connections.answers(address) if asked else None,
    )


def _key(access: Access, address: str, environ: Mapping[str, str], named: bool) -> str:
    if named:
        return "in the settings"
    held = next((name for name in access.variables if environ.get(name, "").strip()), None)
    if held is not None and is_own(access, address):
        return f"in {held}"
    if access.signed is not None:
        return f"AWS's credentials, or {' or '.join(access.variables)}"
    return "none needed" if access.keyless else f"missing ({' or '.join(access.variables)})"


async def trials(settings: Settings) -> AsyncIterator[Trial]:
    """One real call of each configured kind."""
    yield await _extraction(settings)
    yield await _embedding(settings)


async def _extraction(settings: Settings) -> Trial:
    try:
        plan = plan_extraction(settings, b"survey")
    except SettingsError as error:
        return Trial("extraction", settings.llm.provider or "", "failure", str(error))
    if plan.own is None:
        return Trial("extraction", "", "off", plan.description)
    client = ChatClient(settings.llm.timeout, settings.llm.options)
    messages = [{"role": "system", "content": "You answer in JSON."}, {"role": "user", "content": QUESTION}]
    try:
        started = time.perf_counter()
        answer = await client.complete(plan.own, messages, prompt.SCHEMA, 256)
        milliseconds = (time.perf_counter() - started) * 1000
        prompt.parse(answer.text)
    except ProviderError as error:
        return Trial("extraction", plan.own.model, "failure", f"{plan.own.base_url}: {error.reason}")
    finally:
        await client.close()
    used = f"{answer.input_tokens} tokens read, {answer.output_tokens} written" if answer.input_tokens else ""
    detail = ", ".join(part for part in (plan.own.base_url, used) if part)
    price = price_of(plan.own.model, settings.llm.input_price, settings.llm.output_price)
    cost = None if price is None else round(_extraction_cost(price, settings.extraction.turns), 4)
    detail += "" if price is None else f", price of {price.as_of}"
    json = _json(client, plan.own)
    return Trial("extraction", plan.own.model, "ok", detail, round(milliseconds, 1), None, cost, json)


def _extraction_cost(price: Price, turns: int) -> float:
    """Dollars for a thousand turns: the instructions once a call, each turn with the answer before it."""
    empty = prompt.messages(prompt.Window((), ()), ZoneInfo("UTC"))
    instructions = sum(estimate_tokens(message["content"]) for message in empty)
    read = instructions + turns * (TURN_TOKENS + ANSWER_TOKENS)
    return 1000 / turns * (read * price.read + FACTS_TOKENS * price.written) / 1e6


def _json(client: ChatClient, endpoint: Endpoint) -> str:
    if shape_of(endpoint).schema in client.refused(endpoint):
        return "none"
    return "object" if "json_object_only" in endpoint.quirks else "schema"


async def _embedding(settings: Settings) -> Trial:
    if settings.embed.provider == "off":
        return Trial("embedding", "", "off", "switched off by embed.provider")
    try:
        embedder = await open_embedder(settings.embed)
    except (SettingsError, EmbedderError) as error:
        return Trial("embedding", settings.embed.model or settings.embed.provider, "failure", str(error))
    info = embedder.info
    try:
        started = time.perf_counter()
        await embedder.embed_query("where does my sister live?")
        milliseconds = (time.perf_counter() - started) * 1000
    except EmbedderError as error:
        return Trial("embedding", info.model, "failure", str(error))
    finally:
        await embedder.close()
    detail = f"related from {info.floor}, perhaps the same from {info.duplicate}"
    price = _embedding_price(settings.embed)
    cost = None if price is None else round(1000 * (2 * TURN_TOKENS + ANSWER_TOKENS) * price.read / 1e6, 4)
    detail += "" if price is None or not price.as_of else f", price of {price.as_of}"
    return Trial("embedding", info.model, "ok", detail, round(milliseconds, 1), info.dimensions, cost)


def _embedding_price(embed: Embed) -> Price | None:
    """What a model on this machine costs, is nothing."""
    if embed.provider in PROVIDERS and embed.price is None:
        return Price(0.0)
    row = EMBEDDERS.get(embed.provider)
    return price_of(embed.model or (row.model if row is not None else None) or "", embed.price)
