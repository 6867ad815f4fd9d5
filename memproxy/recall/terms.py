"""Text to search terms, the same way for what is stored and for what is asked.

A term is made of letters and digits only, so that a list of terms can stand in a full-text column as it is: nothing a
person types can be read as query syntax. Words are folded and stemmed; identifiers are findable whole and by their
parts (`lib-qrx` by `lib`, `qrx`, `lib-qrx`); scripts written without blanks go in as overlapping pairs of characters.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection, Iterator
from datetime import datetime
from functools import lru_cache

import snowballstemmer

from memproxy.recall.dates import MONTHS, without_modal_may
from memproxy.recall.languages import FUNCTION_WORDS, content_words, language_of, stem_in
from memproxy.recall.words import STOPWORDS

DATE_TERMS = 3  # day, month and year stand first in a passage's terms
QUERY_TERMS = 64  # of one question; a long one keeps its first and its last
_LONGEST = 40  # characters of a term: hashes and encoded data are cut there
_SPACELESS = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7af"
)
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CHUNK = re.compile(r"[^\W_]+(?:(?:[-_.'’]|(?<=\d),(?=\d))[^\W_]+)*")
_SEPARATOR = re.compile(r"[-_.,'’]")
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")
_RUN = re.compile(f"[{_SPACELESS}]+|[^{_SPACELESS}]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # camelCase
_SUFFIX = re.compile(r"['’](?:s|m|d|re|ve|ll)$", re.IGNORECASE)
_NEGATED = re.compile(r"n['’]t$", re.IGNORECASE)
_ACCENTED = re.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")

# Letters that Unicode does not decompose, and that people type without their stroke.
_STROKES = str.maketrans(dict(zip("øØłŁđĐœŒæÆıħ", ("o O l L d D oe Oe ae Ae i h").split(), strict=True)))
_KEPT_MARKS = {"\u3099", "\u309a", "\u0306"}  # kana voicing, and the breve of Cyrillic й: other letters, not accents


def terms(text: str) -> list[str]:
    """Every search term of a text, in order, with repetitions: what a lexical index counts."""
    normal = unicodedata.normalize("NFKC", text)
    folded = fold_marks(normal)
    found = [term for chunk in _CHUNK.findall(without_modal_may(folded)) for term in _chunk_terms(chunk)]
    if folded != normal:  # accents decide between words that are the same without them: exact comes first
        found += [word.casefold()[:_LONGEST] for word in _ACCENTED.findall(normal) if fold_marks(word) != word]
    return found


def index_terms(text: str, speaker: str, time: datetime) -> str:
    """The lexical text of a passage: its terms with those of the speaker and of the date ("7 May 2023")."""
    date = [str(time.day), stem(MONTHS[time.month - 1]), str(time.year)]
    found = terms(text)
    language = language_of(_folded_case(text))
    also = _also(text, language, found) if language is not None else ()
    return " ".join([*date, *terms(speaker), *found, *also])


@lru_cache(maxsize=2048)  # what is recalled for one question is mostly so for the next
def statement(passage: str) -> frozenset[str]:
    """What a passage says, given its terms, and not when."""
    return frozenset(passage.split()[DATE_TERMS:])


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question in order, at most QUERY_TERMS of them."""
    distinct = list(dict.fromkeys(terms(text)))
    language = language_of(_folded_case(text))
    if language is not None:
        distinct += _also(text, language, distinct)
        hollow = _hollow(language)
        distinct = [term for term in distinct if term not in hollow] or distinct
    if len(distinct) <= QUERY_TERMS:
        return distinct
    half = QUERY_TERMS // 2
    return distinct[:half] + distinct[-half:]


def _folded_case(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _also(text: str, language: str, found: Collection[str]) -> list[str]:
    """The stems that words have in their own language, where they are not among what was found."""
    there = set(found)
    stems = (fold_marks(stem_in(word, language))[:_LONGEST] for word in content_words(_folded_case(text), language))
    return list(dict.fromkeys(term for term in stems if term not in there and term not in STOPWORDS))


@lru_cache(maxsize=32)
def _hollow(language: str) -> frozenset[str]:
    """The terms that a language's words without content come out as."""
    return frozenset(stem(fold_marks(word)) for word in FUNCTION_WORDS[language].split())


def fold_marks(text: str) -> str:
    """The text without accents and vowel marks (Latin, Greek, Cyrillic stress, Arabic, Hebrew, …), in NFC."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text.translate(_STROKES))
    kept = "".join(
        char
        for before, char in zip(" " + decomposed, decomposed, strict=False)
        if unicodedata.category(char)[0] != "M" or (char in _KEPT_MARKS and not _is_latin(before))
    )
    return unicodedata.normalize("NFC", kept)


def _is_latin(char: str) -> bool:
    return char < "\u0250"


def _chunk_terms(chunk: str) -> Iterator[str]:
    """The terms of one run of letters and digits with its inner hyphens, dots and apostrophes."""
    if chunk.isascii():
        yield from _word_terms(chunk)
        return
    for run in _RUN.findall(chunk):
        yield from _pairs(run) if _IS_SPACELESS.match(run) else _word_terms(run.strip("-_.,'’"))


def _word_terms(chunk: str) -> Iterator[str]:
    if _NEGATED.search(chunk):
        yield _SEPARATOR.sub("", chunk).casefold()
        yield "not"
        return
    parts = _SEPARATOR.split(_SUFFIX.sub("", chunk))
    for part in parts:
        humps = _HUMP.split(part)
        yield from filter(None, map(_word, humps if len(humps) == 1 else [*humps, part]))
    if len(parts) > 1:
        yield "".join(parts).casefold()[:_LONGEST]


def _pairs(run: str) -> Iterator[str]:
    """Overlapping pairs of characters, and each Han character alone (one can be a word)."""
    if len(run) == 1:
        yield run
        return
    yield from _HAN.findall(run)
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@lru_cache(maxsize=65_536)
def _word(word: str) -> str | None:
    """The term of one word, or None for a stopword."""
    folded = word.casefold()
    return None if not folded or folded in STOPWORDS else stem(folded)[:_LONGEST]


# The stemmer for a script; Latin text is taken for English, and has the stems of its own language beside (`languages`).
_LANGUAGES = {
    "english": re.compile("[a-z]+"),
    "russian": re.compile("[\u0400-\u04ff]+"),
    "greek": re.compile("[\u0370-\u03ff]+"),
    "arabic": re.compile("[\u0620-\u06ff]+"),
}
_stemmers: dict[str, snowballstemmer.stemmer] = {}
_stemming = threading.Lock()  # a Snowball stemmer keeps state while it works


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball stem of a case-folded word; words with digits or of other scripts as they are."""
    for language, letters in _LANGUAGES.items():
        if letters.fullmatch(word):
            with _stemming:
                stemmer = _stemmers.get(language) or _stemmers.setdefault(language, snowballstemmer.stemmer(language))
                found: str = stemmer.stemWord(word)
            return found if found.isalnum() else word
    return word
