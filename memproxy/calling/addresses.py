"""Addresses of endpoints below a base URL, however much of the path that already holds."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

AZURE_VERSION = "2024-10-21"  # the last dated one that is generally available; the v1 API takes none


def below(base_url: str, endpoint: str, version: str = "v1") -> str:
    """An endpoint below a base URL, with the version in between where the base URL does not end in one.

    A URL of the endpoint itself (perhaps with a query) stays as it is.
    """
    path = urlsplit(base_url).path
    if path.endswith(f"/{endpoint}"):
        return base_url
    base = base_url.rstrip("/")
    versioned = path.rstrip("/").rsplit("/", 1)[-1].startswith("v")
    return f"{base}/{endpoint}" if versioned else f"{base}/{version}/{endpoint}"


def deployed(base_url: str, model: str, endpoint: str, api_version: str | None) -> str:
    """An endpoint of Azure OpenAI: that of the v1 API where the base URL ends in `/v1`, else that of a deployment."""
    base = base_url.rstrip("/")
    if urlsplit(base).path.endswith("/v1"):
        return below(base, endpoint)
    version = quote(api_version or AZURE_VERSION, safe="")
    return f"{base.removesuffix('/openai')}/openai/deployments/{quote(model, safe='')}/{endpoint}?api-version={version}"
