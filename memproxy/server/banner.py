"""What the server says of itself when it starts."""

from __future__ import annotations

from urllib.parse import quote

from memproxy import __version__
from memproxy.providers.vendors import VENDORS
from memproxy.server.app import App
from memproxy.server.targets import resolve
from memproxy.settings import Settings


def banner(app: App, port: int, named: bool) -> list[tuple[str, str]]:
    """Label and text of each line. `named`: the store has seen a named entity."""
    parts, settings = app.parts, app.parts.settings
    store = parts.db.describe()
    address = f"http://{settings.host}:{port}"
    lines = [
        ("memproxy", f"{__version__} listening on {address}"),
        ("set in your app", f"OPENAI_BASE_URL={address}/v1"),
        ("see the memory", f"{address}/memproxy/"),
        ("target", _target(settings)),
        ("memory of", _whose(settings, address, named)),
        ("stored in", f"{store.path} ({store.driver} {store.sqlite_version}, {store.vectors})"),
        ("embedder", _embedder(app)),
        ("extraction", _extraction(app)),
    ]
    if reembedding := parts.reembedding():
        lines.append(("vectors", reembedding["told"]))
    return lines + [("off", text) for text in _off(app)]


def _target(settings: Settings) -> str:
    base = resolve(settings, "openai")
    others = [f"{vendor}: {resolve(settings, vendor)}" for vendor in VENDORS if getattr(settings.targets, vendor)]
    return "; ".join([base, *others])


def _whose(settings: Settings, address: str, named: bool) -> str:
    if settings.keys:
        return (
            f"whoever the caller's key allows ({len(settings.keys)} keys), by header X-MemG-Entity or by the key itself"
        )
    header = f"by header X-MemG-Entity, or {address}/memproxy/as/{quote('alice')}/v1 as base URL"
    if settings.entity is not None:
        return f"one shared entity, {settings.entity!r}, where a request names no other ({header})"
    if settings.loopback and not named:
        return f"one shared entity, 'default', until a request names one ({header})"
    return f"{header}; requests that name nobody go without memory"


def _embedder(app: App) -> str:
    embedder = app.parts.embedder
    return f"{embedder.info.model}, {embedder.info.dimensions} dimensions" if embedder else "none"


def _extraction(app: App) -> str:
    limit = app.parts.settings.extraction.daily_calls
    suffix = "" if app.parts.plan.off else f"; at most {limit} calls a day"
    return app.parts.plan.description + suffix


def _off(app: App) -> list[str]:
    settings, parts = app.parts.settings, app.parts
    reasons = []
    if not settings.memory.enabled:
        reasons.append("memory: memory.enabled is false; requests pass through untouched")
    if parts.embedder is None:
        again = "; it is asked again" if parts.opening.again else ""
        serve = ", ".join(parts.embedders.earlier)
        until = f"vectors of {serve} serve meanwhile" if serve else "recall goes by words alone"
        reasons.append(f"search by meaning: {parts.embedders.problem}{again}; {until}")
    if parts.plan.off:
        reasons.append("learning facts: see extraction; turns are still stored and recalled")
    return reasons
