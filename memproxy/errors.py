"""The errors, as a tree.

MemproxyError
├── SettingsError         a setting is wrong: names it, where it came from, and what would work
├── NotUnderstood         a request body that memory cannot read; it is forwarded as it came
├── StoreError            the database cannot be used
│   └── StoreUnavailable  … for now (locked, full, gone): try again later
├── EmbedderError         no vectors can be made
│   └── EmbedderDown      … of no text at all; may pass
├── ProviderError         a model call failed
│   ├── ProviderBusy      … for now: 429, 5xx, a timeout; may carry how long to wait
│   │   └── EmptyAnswer   … no word of an answer: thoughts may have used up the limit
│   ├── TruncatedCompletion   the answer hit its output limit
│   └── UnusableReply     the answer holds no JSON that can be used
└── Problem               a request to the management API that cannot be met (RFC 9457)
    └── SwitchedOff       … since the person switched their memory off
"""

from __future__ import annotations

import traceback
from pathlib import PurePath


class MemproxyError(Exception):
    """Base of all errors raised on purpose."""


class SettingsError(MemproxyError):
    """A setting is wrong. The message names the setting, its source, and what would work."""


class NotUnderstood(MemproxyError):
    """A chat body that cannot be read or edited safely. `reason` is one of the documented skip reasons."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StoreError(MemproxyError):
    """The database cannot be used: wrong version, corrupt, no permission."""


class StoreUnavailable(StoreError):
    """The database cannot be used now: locked, full, or its disk is gone."""


class EmbedderError(MemproxyError):
    """The embedding model is missing, corrupt, or failed."""


class EmbedderDown(EmbedderError):
    """The embedding model fails whatever the text. `passing`: trying again later may help."""

    def __init__(self, message: str, passing: bool = True) -> None:
        super().__init__(message)
        self.passing = passing


class ProviderError(MemproxyError):
    """A call to a model failed in a way that trying again will not mend. `reason` is a word, never content."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProviderBusy(ProviderError):
    """A call to a model failed for now. `retry_after` is in seconds, where the model's server named it."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class EmptyAnswer(ProviderBusy):
    """The model gave no word of an answer; a model that reasons may have used up its limit on thoughts."""

    def __init__(self) -> None:
        super().__init__("empty-answer")


class TruncatedCompletion(ProviderError):
    """The model stopped at its output limit; `text` is what it had written by then."""

    def __init__(self, text: str) -> None:
        super().__init__("truncated")
        self.text = text


class UnusableReply(ProviderError):
    """The model answered, but not with JSON in any shape that can be read."""


class Problem(MemproxyError):
    """A management request that cannot be met, rendered as RFC 9457 problem details."""

    def __init__(self, status: int, title: str, detail: str = "") -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.detail = detail


class SwitchedOff(Problem):
    """The person switched their memory off: nothing is recalled, stored or learned."""

    def __init__(self) -> None:
        super().__init__(409, "Memory is switched off for this entity", 'PUT …/preferences {"memory": true} first.')


def places(error: BaseException) -> str:
    """Where an error was raised, innermost last: for logs, whose lines may not carry an error's message (it may quote
    what somebody said)."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return " > ".join(f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in frames)
