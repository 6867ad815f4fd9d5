"""Which model extracts, if any, and why not: decided once, said in the banner."""

from __future__ import annotations

from dataclasses import dataclass

from memproxy.lifecycle.credentials import Purse
from memproxy.providers.client import Endpoint
from memproxy.settings import Settings

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4o-mini"


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
    """Decide from the settings. Raises SettingsError where a named key is missing."""
    llm = settings.llm
    if settings.extraction.daily_calls == 0:
        return ExtractionPlan(None, None, "off: extraction.daily_calls is 0")
    if llm.api_key is not None:
        key = llm.api_key.reveal()
        endpoint = Endpoint(
            llm.base_url or DEFAULT_BASE_URL, llm.model or DEFAULT_MODEL, {"authorization": f"Bearer {key}"}
        )
        return ExtractionPlan(endpoint, None, None)
    if llm.base_url is not None:
        return ExtractionPlan(None, None, f"off: llm.base_url is {llm.base_url}, but there is no MEMG_LLM_API_KEY")
    if settings.borrows:
        return ExtractionPlan(None, Purse(secret, llm.model), None)
    return ExtractionPlan(None, None, "off: no MEMG_LLM_API_KEY is set, and borrowing the caller's key is off")
