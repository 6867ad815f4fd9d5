"""What can happen to a request's memory, as one closed list: skip reasons, and the counters that tell of them.

Every skip, rejection, retry and drop has a reason word from here; words never carry content.
"""

from __future__ import annotations

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from memproxy.tallies import Spread, Tally


class Skip(StrEnum):
    """Why a chat request went upstream without a block. Documented in docs/headers.md."""

    DISABLED = "disabled"  # memory.enabled is false
    OFF = "off"  # X-MemG-Memory: off, or a value nobody knows
    SWITCHED_OFF = "switched-off"  # the entity's preferences say `memory: false`
    WRITE_ONLY = "write-only"  # X-MemG-Memory: write
    HOP = "hop"  # a proxy of the same memory has seen the request before
    ORIGIN = "origin"  # a foreign Host or Origin
    NO_ENTITY = "no-entity"  # nobody said whose memory it is
    BAD_ENTITY = "bad-entity"  # too long, control characters, not UTF-8
    ENTITY_MISMATCH = "entity-mismatch"  # header and path name different people
    BAD_SESSION = "bad-session"  # X-MemG-Session is no valid name
    BODY = "body"  # not a chat request that can be read
    AMBIGUOUS = "ambiguous"  # duplicate keys where it matters
    UNSPLICEABLE = "unspliceable"  # no place where a block can safely stand
    TOO_LARGE = "too-large"  # the body, or its text, is over the reading limit
    CHORE = "chore"  # a front end's title, tag or follow-up generation, or a probe
    NO_QUERY = "no-query"  # no words of the person in the request
    SMALL_TALK = "small-talk"  # a greeting or an acknowledgement
    NOTHING_RELEVANT = "nothing-relevant"  # nothing stored bears on the message
    NO_ROOM = "no-room"  # the model's window or the budget leaves no room
    DEADLINE = "deadline"  # recall took longer than memory.deadline_ms
    STORE = "store"  # the database cannot be used now
    ERROR = "error"  # a fault in memproxy itself


class Rejection(StrEnum):
    """Why a proposed fact was not stored. Documented in docs/metrics.md."""

    EMPTY = "empty"  # no text, or an entry that cannot be read
    TOO_LONG = "too-long"  # more than a sentence or two
    OPERATION = "operation"  # a reply that wants something deleted or left alone: not what it is asked for
    NOT_THE_USER = "not-the-user"  # marked as somebody else's words
    META = "meta"  # about the conversation or the request
    SPEAKER = "speaker"  # only says who is speaking
    EXAMPLE = "example"  # the prompt's own example
    NOT_SAID = "not-said"  # its words do not stand in the person's turns
    ASSISTANT = "assistant"  # about the assistant, or said to it
    THIRD_PARTY = "third-party"  # about somebody whom nothing relates to the person
    SOMEBODY_ELSE = "somebody-else"  # of the person, from words about somebody else
    NAME = "name"  # a name the person does not give themselves
    PASTED = "pasted"  # from text put in to be worked on
    QUOTATION = "quotation"  # from somebody's speech, or the assistant's
    ROLE_PLAY = "role-play"  # from a game or a story
    HYPOTHETICAL = "hypothetical"  # only supposed, dreamed, nearly done or advised
    BYGONE = "bygone"  # what was, told as what is
    QUESTION = "question"  # only asked
    SITUATIONAL = "situational"  # a request for one answer
    SPECULATION = "speculation"  # the model's guess
    CERTAINTY = "certainty-raised"  # the person left it open
    NEGATION = "negation"  # says the opposite of what was said
    VAGUE = "vague"  # leaves out the code or amount it is about
    SWITCHED_OFF = "switched-off"  # the person wants nothing learned
    EXCLUDED_TAG = "excluded-tag"  # of a kind that the person wants not learned
    EXCLUDED_PATTERNS = "excluded-patterns"  # … where habits are that kind
    DENIED = "denied"  # the person said that it is not to be known
    FORGOTTEN = "forgotten"  # the person had it forgotten, and the turn is the same
    OVERRULED = "overruled"  # the person decided against it in a dispute


class Ungrounded(StrEnum):
    """Why a sentence of a summary was left out, or all of it. Documented in docs/metrics.md."""

    NAME = "name"  # of somebody or something that was not spoken of
    NUMBER = "number"  # that nobody said
    INSTRUCTION = "instruction"  # reads like an order
    DENIED = "denied"  # says what the person does not want known
    LENGTH = "length"  # more than there may be


LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """All Prometheus metrics of one server. Documented in docs/metrics.md; a test keeps the page complete."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Tally(
            "memproxy_requests", "Requests answered, by route pattern and status.", ["route", "status"], registry
        )
        self.under_way = 0  # requests
        in_flight = Gauge("memproxy_requests_in_flight", "Requests being answered now.", registry=registry)
        in_flight.set_function(lambda: self.under_way)
        self.first_byte = Spread(
            "memproxy_added_seconds",
            "Time spent on a chat request before it was sent upstream.",
            LATENCY_BUCKETS,
            registry,
        )
        self.injections = Counter("memproxy_injections", "Requests that got a block.", registry=registry)
        self.injected_tokens = Counter("memproxy_injected_tokens", "Estimated tokens of all blocks.", registry=registry)
        self.skips = Tally("memproxy_skips", "Requests that got no block, by reason.", ["reason"], registry)
        self.recall = Histogram(
            "memproxy_recall_seconds", "Time to find and render a block.", registry=registry, buckets=LATENCY_BUCKETS
        )
        self.recall_lexical = Counter(
            "memproxy_recall_lexical_only", "Recalls without a query vector, by reason.", ["reason"], registry=registry
        )
        self.rerank_skipped = Counter(
            "memproxy_rerank_skipped",
            "Recalls that a reranker did not order, by reason.",
            ["reason"],
            registry=registry,
        )
        self.recall_standing = Counter(
            "memproxy_recalls_cut_short",
            "Blocks that say only what stands anyway, because the deadline had passed.",
            registry=registry,
        )
        self.recall_from = Counter(
            "memproxy_recalls", "Recalls, by where the passages were read.", ["source"], registry=registry
        )
        self.formatter_failures = Counter(
            "memproxy_formatter_failures",
            "Blocks that the chosen formatter could not write, written in the standard form.",
            registry=registry,
        )
        self.turns = Counter("memproxy_turns_recorded", "Turns stored, by role.", ["role"], registry=registry)
        self.unrecorded = Counter(
            "memproxy_exchanges_unrecorded",
            "Exchanges of which nothing was stored, by reason.",
            ["reason"],
            registry=registry,
        )
        self.held_too_long = Counter(
            "memproxy_ends_sent_before_commit",
            "Answers whose end was sent before the turn was durable.",
            registry=registry,
        )
        self.client_gone = Counter(
            "memproxy_clients_gone", "Clients that left before the answer ended.", registry=registry
        )
        self.upstream_errors = Counter(
            "memproxy_upstream_errors",
            "Requests that got no answer from upstream, by reason.",
            ["reason"],
            registry=registry,
        )
        self.facts = Counter("memproxy_facts", "Facts by what became of them.", ["outcome"], registry=registry)
        self.rejected = Counter(
            "memproxy_facts_rejected", "Proposed facts not stored, by reason.", ["reason"], registry=registry
        )
        self.extractions = Counter(
            "memproxy_extractions", "Extraction calls, by outcome.", ["outcome"], registry=registry
        )
        self.extraction_tokens = Counter(
            "memproxy_extraction_tokens", "Tokens of extraction calls as reported.", ["direction"], registry=registry
        )
        self.merges = Counter(
            "memproxy_merge_verdicts",
            "Pairs of near statements put to the model, by what it said.",
            ["verdict"],
            registry=registry,
        )
        self.reflections = Counter(
            "memproxy_reflected_facts", "Facts of second looks, by what became of them.", ["outcome"], registry=registry
        )
        self.summaries = Counter(
            "memproxy_summaries", "Summaries asked for, by what became of them.", ["outcome"], registry=registry
        )
        self.ungrounded = Counter(
            "memproxy_summary_sentences_dropped",
            "Sentences of summaries that were left out, by reason.",
            ["reason"],
            registry=registry,
        )
        self.jobs = Gauge("memproxy_jobs", "Background jobs, by state.", ["state"], registry=registry)
        self.control = Counter(
            "memproxy_control", "Wishes to memory in chats, by what became of them.", ["outcome"], registry=registry
        )
        self.shortened = Counter(
            "memproxy_shortened", "Texts cut to a limit before use, by where.", ["where"], registry=registry
        )
        self.ignored_headers = Counter(
            "memproxy_headers_ignored",
            "X-MemG headers that could not be honoured, by header.",
            ["header"],
            registry=registry,
        )

    def render(self) -> bytes:
        """The Prometheus text exposition of all metrics."""
        return generate_latest(self.registry)
