"""What a call to a chat model is made of, whatever API it goes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from memproxy.calling.aws import Signer
from memproxy.errors import EmptyAnswer, TruncatedCompletion, UnusableReply

_MOST_TOKENS = 10**9  # of one call; a larger number is no count

Messages: TypeAlias = Sequence[Mapping[str, str]]  # role and content; system texts first


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom to call: base URL, model, the headers that authorise it (never logged), and its API."""

    base_url: str
    model: str
    headers: Mapping[str, str] = field(repr=False)
    shape: str | Shape = "chat"  # a key of client.SHAPES, or the API itself
    quirks: frozenset[str] = frozenset()
    api_version: str | None = None
    signer: Signer | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer and what it cost, as far as the server said."""

    text: str
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its messages, the JSON schema wished for, and the limit of the answer in tokens."""

    messages: Messages
    schema: Mapping[str, Any]
    max_tokens: int

    @property
    def system(self) -> str:
        """The instructions, for APIs that take them apart from the messages."""
        return "\n\n".join(message["content"] for message in self.messages if message["role"] == "system")

    @property
    def said(self) -> Messages:
        """The messages without the instructions."""
        return [message for message in self.messages if message["role"] != "system"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What an API's answer says."""

    text: str
    cut: bool  # stopped at the output limit
    refused: bool  # the model, or a filter before it, declined
    input_tokens: int | None
    output_tokens: int | None

    def completion(self) -> Completion:
        """The answer. Raises UnusableReply for a refusal, EmptyAnswer for no word, TruncatedCompletion for a part."""
        if self.refused:
            raise UnusableReply("refused")
        if not self.text.strip():
            raise EmptyAnswer
        if self.cut:
            raise TruncatedCompletion(self.text)
        return Completion(self.text, self.input_tokens, self.output_tokens)


@dataclass(frozen=True, slots=True)
class Shape:
    """One API: pure functions from a question to a request, and from an answer's JSON to what it says.

    `optional` holds what a server may refuse: the name of an option, and the words of a 400 that refuse it (lower
    case). `body` leaves out, or says otherwise, what is in the set it gets. `answered` may raise LookupError,
    TypeError, AttributeError or ValueError for what is no answer. Settings of `nested` objects are merged into what we
    send.
    """

    url: Callable[[Endpoint], str]
    body: Callable[[Endpoint, Asked, frozenset[str]], dict[str, Any]]
    answered: Callable[[Any], Answered]
    optional: Mapping[str, tuple[str, ...]]
    schema: str  # the option by which JSON of a schema is asked for
    nested: frozenset[str] = frozenset()


def count(value: object) -> int | None:
    """A number of tokens as servers report it; None for what can be none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def total(*values: object) -> int | None:
    """The sum of those that are counts; None where none is."""
    known = [number for value in values if (number := count(value)) is not None]
    return sum(known) if known else None


def table(value: object) -> Mapping[str, Any]:
    """A JSON object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def strict(schema: Any) -> Any:
    """A schema whose objects have no further properties: some APIs accept no other."""
    if isinstance(schema, Mapping):
        inner = {name: strict(value) for name, value in schema.items()}
        return {**inner, "additionalProperties": False} if schema.get("type") == "object" else inner
    return [strict(value) for value in schema] if isinstance(schema, list) else schema
