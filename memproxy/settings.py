"""Every setting: its name, type and default. Read once at the start; each part receives only its own slice.

`settings_sources.py` finds and merges the values (flag > environment > file > default); this page says what there is.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import math
import os
import re
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo

import msgspec

from memproxy.errors import SettingsError
from memproxy.model import Placement

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Price = Annotated[float, msgspec.Meta(ge=0.0)]
Days = Annotated[int, msgspec.Meta(ge=0, le=36_500)]

LONGEST = 100 * 365 * 86_400  # seconds of a duration: a date a hundred years away is still a date
_DURATION = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|s|m|h|d)?", re.IGNORECASE)
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Duration(float):
    """A length of time in seconds; written as a number of seconds or as "30m", "20s", "250ms", "7d"."""

    @classmethod
    def parse(cls, value: object) -> Duration:
        """Read a duration. Raises ValueError saying what would work."""
        match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is not None:
            seconds = float(match["number"]) * _UNIT_SECONDS[(match["unit"] or "s").lower()]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = float(value)
        else:
            seconds = math.nan
        if not 0 <= seconds <= LONGEST:
            raise ValueError(f'{value!r} is no duration; write seconds (20) or "30m", "20s", "250ms", "7d"')
        return cls(seconds)


class Secret:
    """A key or password, or where to find it. No text of it ever shows, in a log as little as in a settings dump."""

    __slots__ = ("_said",)

    def __init__(self, said: str) -> None:
        self._said = said

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._said == self._said

    def __hash__(self) -> int:
        return hash(self._said)

    @property
    def points_elsewhere(self) -> bool:
        """Whether this is `env:NAME` or `file:PATH`, and not the secret itself."""
        return self._said.startswith(("env:", "file:"))

    @property
    def pointer(self) -> str | None:
        """`env:NAME` or `file:PATH`; None where this is the secret itself."""
        return self._said if self.points_elsewhere else None

    def reveal(self) -> str:
        """The secret itself: what `env:NAME` or `file:PATH` points to. Raises SettingsError naming what is missing."""
        kind, _, where = self._said.partition(":")
        if kind == "env":
            found = os.environ.get(where, "").strip()
            if not found:
                raise SettingsError(f"the environment variable {where} (named by an api_key or key) is not set")
            return found
        if kind == "file":
            return _read_key(where)
        return self._said.strip()


def _read_key(where: str) -> str:
    try:
        found = Path(where).expanduser().read_text("utf-8").strip()
    except OSError as error:
        raise SettingsError(f"the key file {where} cannot be read: {error.strerror}") from None
    except ValueError:
        raise SettingsError(f"the key file {where} is no text") from None
    if not found:
        raise SettingsError(f"the key file {where} is empty")
    return found


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all sections: immutable, and an unknown key is an error."""


class Targets(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where requests go, by wire format; the vendor's own host where nothing is set."""

    openai: str | None = None
    anthropic: str | None = None
    gemini: str | None = None
    ollama: str | None = None


# The rows of providers/catalog.py, by name. Packages may bring along others (calling/plugins.py).
LLMProvider = Literal[
    "openai",
    "anthropic",
    "gemini",
    "ollama",
    "azureopenai",
    "bedrock",
    "bedrock-converse",
    "deepseek",
    "groq",
    "togetherai",
    "xai",
    "openrouter",
    "custom",
]


class LLM(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that extracts facts."""

    provider: str | None = (
        None  # an LLMProvider, or what a package brings along; None: OpenAI's API, with a key that the settings name
    )
    model: str | None = None
    base_url: str | None = None
    api_key: Secret | None = None
    api_version: str | None = None  # of Azure's dated API
    timeout: Duration = Duration(60)
    options: dict[str, Any] = {}
    input_price: Price | None = None  # dollars for a million tokens; None: as far as it is known
    output_price: Price | None = None
    borrow: bool | None = None  # None: only on a loopback bind without keys


# local, off and hash, and the rows of embedders/catalog.py, by name.
EmbedProvider = Literal[
    "local",
    "off",
    "hash",
    "openai",
    "azureopenai",
    "gemini",
    "ollama",
    "bedrock",
    "togetherai",
    "cohere",
    "voyageai",
    "openrouter",
    "custom",
]


class Embed(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that turns text into vectors."""

    provider: str = "local"  # an EmbedProvider, or what a package brings along
    model: str | None = None
    base_url: str | None = None
    api_key: Secret | None = None
    api_version: str | None = None  # of Azure's dated API
    dir: str | None = None
    dimensions: Positive | None = None
    max_tokens: Positive | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    price: Price | None = None  # dollars for a million tokens; None: as far as it is known
    reembed: Literal["background", "manual"] = "background"  # how vectors of another model are made anew


class Recall(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is found for a message."""

    limit: Positive = 100
    threshold: Share | None = None  # None: calibrated per embedder
    summary_limit: Count = 5
    summary_threshold: Share = 0.3
    profile: Literal["default", "gather", "pinpoint", "auto"] = "default"  # how deep a question goes
    fusion: Literal["weighted", "rrf", "linear"] = "weighted"  # how words and meaning are put together
    mmr: Share = 0.0  # how much what is like something better loses by that
    recency: Share = 0.0  # how much of the score goes by age …
    recency_days: Positive = 90  # … of which nothing is left after so long
    reranker: str | None = None  # a package's cross-encoder, by the name of its entry point
    decay: bool = True  # facts weigh less with age unless they matter or are said again
    resident: Count = 20_000  # passages kept in memory, of those who spoke last; about 4 kB each


class Placements(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a block goes for the models of one target, where that differs: some templates refuse system text."""

    openai: Placement | None = None
    anthropic: Placement | None = None
    gemini: Placement | None = None
    ollama: Placement | None = None


class Memory(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is put into a request."""

    enabled: bool = True
    token_budget: Count = 2000
    summary_budget: Count = 1000
    placement: Placement = "system"
    deadline_ms: Positive = 250
    context_window: Positive | None = None  # the model's window in tokens, where known
    window_share: Share = 0.25  # of that window a block takes at most
    format: str = "sections"  # how a block is written out: sections, flat, vitamem, or a formatter of a package
    # What a part of the block may take of the budget before the other parts had theirs.
    identity_share: Share = 0.15  # who the person is, feelings, open threads
    session_share: Share = 0.25  # what was said earlier in the conversation, where the request does not carry it
    artifact_share: Share = 0.15  # code and data shown whole, with its lines; 0: as any other words
    past_share: Share = 0.35  # summaries of other conversations
    personal_limit: Count = 15  # lines that are said unasked
    topic_share: Share = 0.4  # of those, what one topic may have while there are others
    confidence_floor: Share = 0.3  # facts less sure than that are not said
    quotes: bool = True  # the person's own words beside a fact that says less than they do
    open_threads: Count = 3  # what is not settled, at the beginning of a conversation
    emotional: bool = False  # what was said with feeling, lately
    proactive: bool = False  # what is worth taking up, at the beginning of a conversation


class SessionSettings(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a conversation counts as ended."""

    timeout: Duration = Duration(1800)


class WorkingMemory(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns of the running conversation that stay at hand."""

    turns: Count = 20
    tokens: Count = 4000  # what those that are put back into a request may take
    recover: list[str] = []  # whose conversations are put back where a request brings only its newest message


class Extraction(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When and how facts are learned."""

    turns: Positive = 3
    quiet_seconds: Duration = Duration(20)
    max_chars: Positive = 12_000
    max_attempts: Positive = 5
    daily_calls: Count = 200
    concurrency: Positive = 1
    reflection: bool = False  # look a second time at what was noted down, for another call a window
    ignore: list[str] = []


class Summaries(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of whole conversations."""

    enabled: bool | None = None  # None: where the extraction model is one's own, not borrowed
    days: Positive | None = 90  # how long one is kept; None: for good
    left_off: bool = False  # begin a conversation with what the one before was about, for three days


class Facts(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How facts live: which exclude each other, and when they end."""

    temporary_days: Positive = 30  # a temporary fact without an end ends this long after it was last said
    ephemeral_hours: Positive = 12  # … and one about the present moment
    low_days: Positive | None = (
        None  # time to live of facts of significance 1-4; None: they stay, ranked lower with age
    )
    medium_days: Positive | None = None  # … and of 5-9
    single_slots: list[str] = []  # further attributes that have one value at a time
    slot_names: dict[str, str] = {}  # further names of attributes: {"abode": "location"}
    gate: Literal["auto", "model", "rules"] = "auto"  # who decides whether two near statements are one
    rule_packs: list[str] = []  # what is also kept in structured form: "health"
    inline_contradictions: bool = False  # notice in passing that a message says otherwise than memory
    # Sides that exclude each other, each with its words: Moss cannot be a cat here and a dog there.
    exclusive_families: dict[str, dict[str, list[str]]] = msgspec.field(
        default_factory=lambda: {"species": {"cat": ["cat", "kitten", "tomcat"], "dog": ["dog", "puppy", "hound"]}}
    )


class Receipts(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long it can be looked up what was injected into a request."""

    days: Days = 7
    max: Count = 10_000


class Key(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One key for callers, the entities it may name, and whether it administers."""

    key_env: str | None = None
    key_file: str | None = None
    entities: list[str] = []
    admin: bool = False

    def secret(self) -> str:
        """The key itself. Raises SettingsError."""
        return Secret(f"env:{self.key_env}" if self.key_env else f"file:{self.key_file}").reveal()

    def allows(self, entity: str) -> bool:
        """Whether this key may name that entity."""
        patterns = (unicodedata.normalize("NFC", pattern) for pattern in self.entities)
        return self.admin or any(fnmatch.fnmatchcase(entity, pattern) for pattern in patterns)


class Settings(_Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it."""

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8787
    target: str | None = None
    targets: Targets = Targets()
    placements: Placements = Placements()
    entity: str | None = None
    entity_sources: list[str] = []
    db: str = "~/.memg/memory.db"
    debug: bool = False
    timezone: str = "UTC"
    client_time: bool = False
    chat_control: bool = False
    chores: list[str] = []
    added_elements: list[str] = []  # further elements that programs put into the person's turn
    llm: LLM = LLM()
    embed: Embed = Embed()
    recall: Recall = Recall()
    memory: Memory = Memory()
    session: SessionSettings = SessionSettings()
    working_memory: WorkingMemory = WorkingMemory()
    extraction: Extraction = Extraction()
    summaries: Summaries = Summaries()
    conscious: bool = True
    conscious_limit: Count = 10
    conscious_cache_ttl: Duration = Duration(30)
    prune_interval: Duration = Duration(300)
    facts: Facts = Facts()
    receipts: Receipts = Receipts()
    allowed_origins: list[str] = []
    keys: list[Key] = []

    @property
    def database(self) -> Path:
        """Where the database file lies."""
        return Path(self.db).expanduser()

    def placement(self, vendor: str) -> Placement:
        """Where the block goes in requests of a vendor's shape."""
        own: Placement | None = getattr(self.placements, vendor)
        return own or self.memory.placement

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def borrows(self) -> bool:
        """Whether extraction may use the caller's own credential."""
        wanted = self.llm.borrow if self.llm.borrow is not None else (self.loopback and not self.keys)
        llm = self.llm
        return wanted and llm.provider is None and llm.api_key is None and llm.base_url is None


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check(settings: Settings) -> None:
    """What types alone cannot say. Raises SettingsError."""
    for name in ("target", *(f"targets.{field}" for field in Targets.__struct_fields__)):
        holder, _, field = name.rpartition(".")
        _check_url(name, getattr(settings.targets if holder else settings, field))
    for section, provider, known in (
        ("llm", settings.llm.provider, get_args(LLMProvider)),
        ("embed", settings.embed.provider, get_args(EmbedProvider)),
    ):
        _check_provider(section, provider, known)
    _check_url("llm.base_url", settings.llm.base_url)
    _check_url("embed.base_url", settings.embed.base_url)
    if zone(settings.timezone) is None:
        raise SettingsError(f'timezone: {settings.timezone!r} is no IANA name; write for example "Europe/Vienna"')
    if settings.entity is not None and not _is_name(settings.entity):
        raise SettingsError("entity: a name has 1 to 255 characters, none of them a control character")
    for origin in settings.allowed_origins:
        parts = _split(origin)
        if parts is None or not parts.hostname or parts.path.strip("/") or parts.query:
            raise SettingsError(f'allowed_origins: {origin!r} is no origin; write for example "https://app.example"')
    for index, key in enumerate(settings.keys):
        if (key.key_env is None) == (key.key_file is None):
            raise SettingsError(f"keys[{index}]: give exactly one of key_env and key_file")
        if not key.admin and not key.entities:
            raise SettingsError(f'keys[{index}]: name its entities, for example ["alice", "team-*"], or set admin')
    for source in settings.entity_sources:
        if source.partition(":")[0] not in ("header", "body") or not source.partition(":")[2]:
            raise SettingsError(f'entity_sources: {source!r}; write "header:X-User-Id" or "body:user"')
    for name, patterns in (("chores", settings.chores), ("extraction.ignore", settings.extraction.ignore)):
        for pattern in patterns:
            _check_pattern(name, pattern)
    if not settings.loopback and not settings.keys:
        raise SettingsError(
            f"host: {settings.host} can be reached from other machines, so callers need keys. "
            'Set "keys": [{"key_env": "MEMPROXY_KEY", "entities": ["*"]}] in memg.json, or bind 127.0.0.1'
        )


def _check_pattern(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SettingsError(f"{name}: {pattern!r} is no regular expression: {error}") from None


def _check_provider(section: str, provider: str | None, known: tuple[str, ...]) -> None:
    group = "memproxy.llms" if section == "llm" else "memproxy.embedders"
    if provider is None or provider in known:
        return
    from importlib.metadata import entry_points  # takes 20 ms to load, and hardly anybody needs it

    if entry_points(group=group, name=provider):
        return
    raise SettingsError(
        f"{section}.provider: {provider!r} is none; there are {', '.join(known)}, and what installed packages offer as"
        f" {group}"
    )


def _check_url(name: str, value: str | None) -> None:
    if value is None:
        return
    parts = _split(value)
    if parts is None or not parts.hostname or parts.query or parts.fragment:
        shown = re.sub(r"//[^/]*@", "//***@", value.partition("?")[0])
        raise SettingsError(f'{name}: {shown!r} is no base URL; write for example "https://api.openai.com"')


def _split(url: str) -> SplitResult | None:
    """The parts of an http(s) URL, or None where it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") else None


def _is_name(name: str) -> bool:
    return 1 <= len(name) <= 255 and not any(unicodedata.category(c) in ("Cc", "Cs") for c in name)


def zone(name: str) -> ZoneInfo | None:
    """The time zone of an IANA name; None where there is none of that name. Quick enough for a request's path."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
