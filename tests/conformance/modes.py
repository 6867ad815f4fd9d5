"""The ways in which an upstream answers and a client leaves: the rows of the table in docs/wire.md."""

from __future__ import annotations

PLAIN = "plain JSON"
GZIP = "gzip"
LIMITED = "429 with `Retry-After`"
REFUSED = "400"
HTML = "503 with an HTML page"
STREAM = "stream"
CRLF = "stream with CRLF line ends"
SPLIT = "stream cut inside characters"
TOOLS = "stream of tool calls"
REASONING = "stream with reasoning"
LONG = "stream with a line of 300 kB"
COMMENTS = "stream with comments and `retry:`"
USAGE = "stream with a usage chunk"
DEATH = "upstream dies in mid-stream"
ERROR = "error in the stream"
ENDLESS = "stream without its last event"
LEAVES_WAITING = "client leaves while a whole answer is awaited"
LEAVES_STREAM = "client leaves in mid-stream"

ANSWERS = (
    PLAIN,
    GZIP,
    LIMITED,
    REFUSED,
    HTML,
    STREAM,
    CRLF,
    SPLIT,
    TOOLS,
    REASONING,
    LONG,
    COMMENTS,
    USAGE,
    DEATH,
    ERROR,
    ENDLESS,
)
LEAVING = (LEAVES_WAITING, LEAVES_STREAM)
MODES = (*ANSWERS, *LEAVING)
