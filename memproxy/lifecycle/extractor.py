"""Which model extracts, if any, and why not: decided once, said in the banner."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memproxy.calling.access import resolve
from memproxy.errors import SettingsError
from memproxy.lifecycle.credentials import Purse
from memproxy.providers.catalog import LLMS, known_at, row_of
from memproxy.providers.client import Endpoint
from memproxy.settings import LLM, Settings

DEFAULT_PROVIDER = "openai"  # whose API a key alone is for


@dataclass(frozen=True, slots=True)
class ExtractionPlan:
    """How facts are extracted: with a key of our own, with the caller's, or not at all."""

    own: Endpoint | None
    purse: Purse | None
    off: str | None  # why extraction is off, and what would switch it on

    @property
    def description(self) -> str:
        """One line for the banner."""
        if self.own is not None:
            return f"{self.own.model} at {self.own.base_url}"
        return self.off or "the caller's own credential, at the origin it arrives for"

    def learns_with(self, credential: str | None) -> bool:
        """Whether a turn that came with this credential (or none) can be learned from at all."""
        return self.own is not None or (self.purse is not None and credential is not None)

    def endpoint(self, credential: str | None) -> Endpoint | None:
        """Where a job may call; None where its credential is not at hand."""
        if self.own is not None:
            return self.own
        return self.purse.endpoint(credential) if self.purse is not None and credential is not None else None

    def credentials(self) -> set[str]:
        """The borrowed credentials at hand."""
        return self.purse.fingerprints() if self.purse is not None else set()


def plan_extraction(settings: Settings, secret: bytes) -> ExtractionPlan:
    """Decide from the settings. Raises SettingsError where a named provider, key, address or model is missing."""
    llm = settings.llm
    if settings.extraction.daily_calls == 0:
        return ExtractionPlan(None, None, "off: extraction.daily_calls is 0")
    if llm.provider is not None:
        return ExtractionPlan(_endpoint(llm, llm.provider), None, None)
    if llm.api_key is not None:
        return ExtractionPlan(_endpoint(llm, DEFAULT_PROVIDER), None, None)
    if llm.base_url is not None:
        if (own := known_at(llm.base_url)) is not None and any(map(os.environ.get, LLMS[own].access.variables)):
            return ExtractionPlan(_endpoint(llm, own), None, None)  # the address says unmistakably whose key it is
        return ExtractionPlan(
            None,
            None,
            f"off: llm.base_url is {llm.base_url}, but there is no MEMG_LLM_API_KEY "
            "(a server without keys: set llm.provider to custom or ollama)",
        )
    if settings.borrows:
        return ExtractionPlan(None, Purse(secret, llm.model), None)
    return ExtractionPlan(
        None, None, "off: neither MEMG_LLM_API_KEY nor llm.provider is set, and borrowing the caller's key is off"
    )


def _endpoint(llm: LLM, provider: str) -> Endpoint:
    """Where and as whom to call a provider. Raises SettingsError naming what is missing."""
    row = row_of(provider)
    opened = resolve("llm", provider, row.access, llm.base_url, llm.api_key)
    model = llm.model or row.model
    if model is None:
        raise SettingsError(f"llm.model: provider {provider} has no model of its own; name yours")
    return Endpoint(opened.base_url, model, opened.headers, row.shape, row.quirks, llm.api_version, opened.signer)
