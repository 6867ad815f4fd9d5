"""What a vendor brings to the test: how a client asks it, and its answers, from which every mode is made."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memproxy.testing import Answer, Die, Wait
from memproxy.testing.upstream import Piece
from tests.conformance import modes

QUESTION = "What is my kayak called, ✅ Petrel or Puffin?"
FACT = "Has a kayak called Petrel"
WORDS = ("Your", " kayak is called", " Petrel", " – Grüße", " aus Köln", " 🎉🛶", " und 日本.")
TEXT = "".join(WORDS)
LONG_TEXT = "A very long line, naïvely put. " * 10_000
HTML_PAGE = (
    b"<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\xa0</body>\r\n</html>\r\n"
)

Headers = tuple[tuple[str, str], ...]
Said = tuple[str, bool]  # the assistant's words, and whether they are all of its answer


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of a client."""

    target: bytes
    headers: Headers
    body: bytes
    streams: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One cell of the table: a request, its answer, and what is to be learned from it."""

    ask: Ask
    answer: Answer
    said: Said | None = None  # None: no answer was given
    heard: bool = True  # whether the person's words are kept
    until: bytes = b""  # a client that leaves does so when it has read this


@dataclass(frozen=True, slots=True)
class Vendor:
    """An API as its vendor serves it. Streams are lists of frames: an opening, one frame a word, a closing."""

    name: str
    plain: Ask | None  # None: there are only streams
    streamed: Ask
    headers: Headers  # of every answer
    stream_type: str
    body: bytes
    opening: Sequence[bytes]
    words: Sequence[bytes]  # one for each of WORDS
    closing: Sequence[bytes]
    long: Sequence[bytes]  # an answer of LONG_TEXT in one frame
    tools: Sequence[bytes]
    tools_said: Said
    reasoning: Sequence[bytes]
    usage: Sequence[bytes]
    error: Sequence[bytes]  # what comes in place of the next word
    limited: Mapping[int, bytes]  # the bodies of refusals by status
    limits: Headers  # what a 429 says besides
    last: int = 1  # frames at the end that say that it is one
    whole_without_last: bool = True  # whether an answer is known to be all there without them
    noise: Sequence[bytes] = ()  # comments and the like; none: the framing has no such thing
    json_type: str = "application/json"

    @property
    def stream(self) -> list[bytes]:
        """An answer of TEXT."""
        return [*self.opening, *self.words, *self.closing]

    def cases(self) -> dict[str, Case]:
        """Every mode that this API knows."""
        made = {**self._refusals(), **self._streams(), **self._broken()}
        if self.plain is not None:
            kind = ("Content-Type", self.json_type)
            made[modes.PLAIN] = Case(self.plain, self._counted(200, kind, self.body), (TEXT, True))
            made[modes.LEAVES_WAITING] = Case(self.plain, Answer())
        zipped = gzip.compress(self.body, mtime=0)
        headers = [
            *self.headers,
            ("Content-Type", self.json_type),
            ("Content-Encoding", "gzip"),
            ("vary", "Accept-Encoding"),
        ]
        halves: list[Piece] = [zipped[:40], zipped[40:]]
        made[modes.GZIP] = Case(self.plain or self.streamed, Answer(200, headers, halves), (TEXT, True))
        return made

    def _refusals(self) -> dict[str, Case]:
        ask = self.plain or self.streamed
        kind = ("Content-Type", self.json_type)
        limited = self._counted(429, kind, self.limited[429], self.limits)
        page = self._counted(503, ("Content-Type", "text/html; charset=ISO-8859-1"), HTML_PAGE)
        return {
            modes.LIMITED: Case(ask, limited, heard=False),
            modes.REFUSED: Case(ask, self._counted(400, kind, self.limited[400]), heard=False),
            modes.HTML: Case(ask, page, heard=False),
        }

    def _streams(self) -> dict[str, Case]:
        whole = b"".join(self.stream)
        noisy = [piece for frame in self.stream for piece in (frame, *self.noise)]
        frames: dict[str, tuple[Sequence[bytes], Said]] = {
            modes.STREAM: (self.stream, (TEXT, True)),
            modes.CRLF: ([_crlf(frame) for frame in self.stream], (TEXT, True)),
            modes.SPLIT: ([whole[at : at + 3] for at in range(0, len(whole), 3)], (TEXT, True)),
            modes.TOOLS: (self.tools, self.tools_said),
            modes.REASONING: (self.reasoning, (TEXT, True)),
            modes.LONG: (self.long, (LONG_TEXT, True)),
            modes.COMMENTS: ([*self.noise, *noisy], (TEXT, True)),
            modes.USAGE: (self.usage, (TEXT, True)),
            modes.ENDLESS: (self.stream[: -self.last], (TEXT, self.whole_without_last)),
        }
        if not self.noise:
            del frames[modes.COMMENTS]
        return {mode: self._streaming(pieces, said) for mode, (pieces, said) in frames.items()}

    def _broken(self) -> dict[str, Case]:
        begun = [*self.opening, *self.words[:4]]
        part = ("".join(WORDS[:4]), False)
        return {
            modes.DEATH: self._streaming([*begun, self.words[4][:-20], Die()], part),
            modes.ERROR: Case(self.streamed, self._answer([*begun, *self.error]), heard=False),
            modes.LEAVES_STREAM: Case(self.streamed, self._answer([*begun, Wait()]), part, until=self.words[3]),
        }

    def _streaming(self, pieces: Sequence[Piece], said: Said) -> Case:
        return Case(self.streamed, self._answer(pieces), said)

    def _answer(self, pieces: Sequence[Piece]) -> Answer:
        return Answer(200, [*self.headers, ("Content-Type", self.stream_type)], pieces)

    def _counted(self, status: int, kind: tuple[str, str], body: bytes, more: Headers = ()) -> Answer:
        length = ("Content-Length", str(len(body)))
        return Answer(status, [kind, *self.headers, *more, length], [body])


def compact(value: Any) -> bytes:
    """JSON as most vendors stream it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def pretty(value: Any) -> bytes:
    """JSON as some vendors send it whole."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def data(value: Any) -> bytes:
    """An event without a name."""
    return b"data: " + compact(value) + b"\n\n"


def event(value: dict[str, Any]) -> bytes:
    """An event with the name that its data says."""
    return f"event: {value['type']}\n".encode() + data(value)


def _crlf(frame: bytes) -> bytes:
    return frame.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
