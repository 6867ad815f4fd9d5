"""Code, JSON and SQL in what was said: found by their form, named where they name themselves, no model needed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecoder
from typing import Literal

from memproxy.context.shown import lines_of

ArtifactKind = Literal["code", "json", "sql"]

LEAST = 40  # characters; what is shorter stands in any sentence
MOST = 20  # of one text
_LONGEST = 64_000  # characters of a text that are looked at
_MOST_FAILURES = 50  # lines that begin like JSON and are none
_ALIKE = 0.5  # share of lines that two versions of one thing have in common

_FENCE = re.compile(
    r"^[ \t]*(?P<marks>```+|~~~+)[ \t]*(?P<info>[^\n`]*)\n(?P<body>.*?)^[ \t]*(?P=marks)[ \t]*$", re.M | re.S
)
_JSON_START = re.compile(r"^[ \t]*(?=[{\[])", re.M)
# A statement, not a sentence: keywords where SQL has them, and no article where a name has to stand.
_NAME = r"(?!(?:the|a|an|your|my|our|all|some|any|one|each|this|that)\b)[\w.\"`\[\]]+"
_SQL = re.compile(
    rf"^[ \t]*(?:SELECT\s+(?:(?!(?:the|a|an|your|my|one|any)\b)[^;]{{1,2000}}?)\sFROM\s+{_NAME}"
    rf"(?=\s*(?:;|,|\)|\Z|\n|(?:AS\s+)?\w+\s*(?:;|\n|\Z|WHERE|JOIN|ON)|WHERE|(?:LEFT|INNER|RIGHT|CROSS|FULL)?\s*JOIN|"
    rf"ORDER\s+BY|GROUP\s+BY|LIMIT|HAVING|UNION))"
    rf"|INSERT\s+INTO\s+{_NAME}\s*(?:\(|VALUES|SELECT)|UPDATE\s+{_NAME}\s+SET\s+{_NAME}\s*=|DELETE\s+FROM\s+{_NAME}"
    rf"(?=\s*(?:;|\Z|\n|WHERE))|CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+|TEMP(?:ORARY)?\s+|MATERIALIZED\s+)*(?:TABLE|"
    rf"INDEX|VIEW|TRIGGER)\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s*(?:\(|AS\b|ON\b)|ALTER\s+TABLE\s+{_NAME}\s+(?:ADD|DROP|"
    rf"RENAME|ALTER|MODIFY)\b|DROP\s+(?:TABLE|INDEX|VIEW)\s+(?:IF\s+EXISTS\s+)?{_NAME}\s*(?:;|\Z|\n))",
    re.M | re.I,
)
_STATEMENT_END = re.compile(r";[ \t]*(?=\n|\Z)|\n[ \t]*\n|\Z")
# Nothing of a line is given back: tried over again, the lines of a long list would take time square in their number.
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\S\n]*+\S[^\n]*+(?:\n|\Z)(?:[ \t]*+\n)*+){4,}+", re.M)
_HINT = re.compile(
    r"```|~~~|^[ \t]*[{\[]|^(?: {4}|\t)|\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\b", re.M | re.I
)
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d+[.)])\s")
_CODE_MARK = re.compile(r"[{}();=<>\[\]]|:\s*$|\b(?:def|return|import|class|function|const|let|var)\b", re.M)
_FILE = re.compile(r"[\w./-]*\w\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|kt|rb|php|cs|cpp|cc|c|h|hpp|swift|sh|sql|html|css|"
                   r"vue|json|ya?ml|toml|ini|tf|lua|r|scala|ex|exs|md)\b")  # fmt: skip
_DEFINED = (
    re.compile(r"^\s*(?:export\s+(?:default\s+)?)?(?:abstract\s+)?(?:class|interface|struct|enum|trait)\s+(\w+)", re.M),
    re.compile(
        r"^\s*(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:def|function|func|fn|sub)\s+(?:\([^)]*\)\s*)?(\w+)", re.M
    ),
    re.compile(r"^\s*(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b|\()", re.M),
    re.compile(
        r"\b(?:CREATE|ALTER|DROP)\b[\w\s]{0,40}?\b(?:TABLE|INDEX|VIEW)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?([\w.]+)", re.I
    ),
)  # fmt: skip
_TITLE_KEYS = ("name", "title", "id", "$schema")
_LANGUAGES = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "tsx": "typescript",
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "golang": "go",
    "rs": "rust",
    "yml": "yaml",
    "postgresql": "sql",
    "mysql": "sql",
    "sqlite": "sql",
    "jsonc": "json",
    "json5": "json",
}
_NO_LANGUAGE = frozenset(("", "text", "txt", "plain", "plaintext", "output", "console", "log", "none"))


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of code or data in a text."""

    kind: ArtifactKind
    language: str  # "" where nothing says which
    name: str  # of the file, or of what it defines; "" where it says neither
    start: int  # text[start:end] is the thing itself, without fences
    end: int

    @property
    def description(self) -> str:
        """What it is, in a few words."""
        what = {"code": f"{self.language} code".strip(), "json": "JSON", "sql": "SQL"}[self.kind]
        return f"{what}, {self.name}" if self.name else what


def may_hold(text: str) -> bool:
    """A cheap look: whether there can be any code or data in a text."""
    return len(text) >= LEAST and _HINT.search(text) is not None


def artifacts(text: str) -> list[Found]:
    """The pieces of code and data in a text, in order, none inside another; at most MOST of them."""
    text = text[:_LONGEST] if may_hold(text) else ""
    found: list[Found] = []
    for finder in (_fenced, _json, _sql, _indented):
        for one in finder(text):
            if one.end - one.start >= LEAST and not any(one.start < o.end and o.start < one.end for o in found):
                found.append(one)
    return sorted(found, key=lambda one: one.start)[:MOST]


def same_thing(old: str, new: str, *, named_alike: bool) -> bool:
    """Whether a text is a later version of another: of the same name, or half of the longer one's lines alike."""
    if named_alike:
        return True
    mine, theirs = lines_of(new), lines_of(old)
    return bool(mine and theirs) and len(mine & theirs) >= _ALIKE * max(len(mine), len(theirs))


def _fenced(text: str) -> Iterator[Found]:
    for match in _FENCE.finditer(text):
        info = match["info"].strip()
        word = info.split()[0].lower() if info else ""
        language = re.sub(r"[^\w+#-].*", "", word)
        language = "" if language in _NO_LANGUAGE else _LANGUAGES.get(language, language)
        start, end = _trimmed(text, *match.span("body"))
        before = text[max(0, match.start() - 120) : match.start()].rstrip().rpartition("\n")[2]
        file = _FILE.search(info) or _FILE.search(before)
        body = text[start:end]
        kind: ArtifactKind = "json" if language == "json" else "sql" if language == "sql" else "code"
        yield Found(kind, language, file[0] if file else _defined(body), start, end)


def _json(text: str) -> Iterator[Found]:
    decoder, after, failures = JSONDecoder(), 0, 0
    for match in _JSON_START.finditer(text):
        if match.end() < after or failures > _MOST_FAILURES:
            continue
        try:
            value, after = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            failures += 1
            continue
        if not value or not isinstance(value, dict | list):
            continue
        titles = (
            [value[key] for key in _TITLE_KEYS if isinstance(value.get(key), str)] if isinstance(value, dict) else []
        )
        yield Found("json", "json", titles[0][:60] if titles else "", match.end(), after)


def _sql(text: str) -> Iterator[Found]:
    after = 0
    for match in _SQL.finditer(text):
        if match.start() < after:
            continue
        end = _STATEMENT_END.search(text, match.end() - 1)
        after = end.end() if end else len(text)
        start, stop = _trimmed(text, match.start(), after)
        yield Found("sql", "sql", _defined(text[start:stop]), start, stop)


def _indented(text: str) -> Iterator[Found]:
    for match in _INDENTED.finditer(text):
        lines = [line for line in match[0].splitlines() if line.strip()]
        if sum(_LIST_ITEM.match(line) is not None for line in lines) * 3 > len(lines):
            continue
        if sum(_CODE_MARK.search(line) is not None for line in lines) * 2 < len(lines):
            continue
        start, end = _trimmed(text, *match.span())
        yield Found("code", "", _defined(text[start:end]), start, end)


def _defined(body: str) -> str:
    """What a piece of code defines first."""
    found = [match for pattern in _DEFINED if (match := pattern.search(body))]
    return min(found, key=lambda match: match.start())[1] if found else ""


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without empty lines around it; the first line keeps its indentation."""
    body = text[start:end]
    lead = len(body) - len(body.lstrip("\n\r"))
    return start + lead, start + len(body.rstrip())
