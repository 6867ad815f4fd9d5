"""Files into values: JSON, JSON lines, and ZIP archives that hold such files."""

from __future__ import annotations

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memproxy.errors import SettingsError
from memproxy.importing.records import Broken, Raw

LARGEST_MEMBER = 2 << 30  # bytes of one file in an archive, unpacked: more is a bomb, or nothing that fits in memory
_SUFFIXES = (".json", ".jsonl", ".ndjson")
# What account exports hold beside conversations: who the account is, votes, what was shared.
_BESIDE = frozenset(
    "user users user_settings message_feedback model_comparisons shared_conversations sora projects".split()
)
# What `zipfile` and the packers behind it raise for bytes that are not what they were, and for ways of packing that
# they do not know.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, ValueError)


def values(path: Path, largest: int = LARGEST_MEMBER) -> Iterator[Raw | Broken]:
    """Every value of a file: the elements of a JSON array, the lines of a JSONL file, the one object of another.

    A folder stands for the files in it, in the order of their names. `largest` is how many bytes a file in an archive
    may have unpacked, and all of them together. Raises SettingsError for what cannot be opened.
    """
    if path.is_dir():
        found = sorted(child for child in path.rglob("*") if child.suffix.lower() in (*_SUFFIXES, ".zip"))
        if not found:
            raise SettingsError(f"{path}: no .json, .jsonl or .zip file in it")
        for child in found:
            yield from values(child, largest)
        return
    try:
        if zipfile.is_zipfile(path):
            yield from _archived(path, largest)
        else:
            yield from parsed(path.name, path.read_bytes())
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:  # its list of contents cannot be read
        raise SettingsError(f"{path}: a damaged archive ({error})") from None


def _archived(path: Path, largest: int) -> Iterator[Raw | Broken]:
    left = largest
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            inner = PurePosixPath(member.filename)
            if member.is_dir() or inner.suffix.lower() not in _SUFFIXES or inner.stem.lower() in _BESIDE:
                continue
            if member.file_size > left:
                yield Broken(member.filename, "too large to be read")
            elif member.flag_bits & 1:
                yield Broken(member.filename, "encrypted")
            else:
                left -= member.file_size
                try:
                    data = archive.read(member)
                except _DAMAGED as error:
                    yield Broken(member.filename, f"damaged, or packed in a way that is not known here ({error})")
                    continue
                yield from parsed(member.filename, data)


def parsed(name: str, data: bytes) -> Iterator[Raw | Broken]:
    """The values of one file's bytes."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield Broken(name, "not UTF-8")
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) > 1 and _starts_as_lines(lines[0][1]):
            yield from _lines(name, lines)
        else:
            yield Broken(name, f"no JSON: {_why(error)}")
        return
    if isinstance(value, list):
        yield from (Raw(f"{name}[{index}]", element) for index, element in enumerate(value))
    else:
        yield Raw(name, value)


def _starts_as_lines(line: str) -> bool:
    """Whether a first line is a whole object: a document that breaks off somewhere has one that is not."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return line.lstrip().startswith("{") and line.rstrip().endswith("}")


def _lines(name: str, lines: list[tuple[int, str]]) -> Iterator[Raw | Broken]:
    for number, line in lines:
        where = f"{name} line {number}"
        try:
            yield Raw(where, json.loads(line))
        except (ValueError, RecursionError) as error:
            yield Broken(where, f"no JSON: {_why(error)}")


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else "unreadable"
