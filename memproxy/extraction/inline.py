"""Noticing in passing that somebody says otherwise than is stored: words only, no model, no waiting. Opt-in.

Narrow on purpose (a wider one found 35 contradictions in one message): the person speaks of themselves, the clause
holds a word of the attribute, and in the same clause stands a name that the stored value does not know. At most three
a message, each attribute once, none of what changes all the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memproxy.folding import fold
from memproxy.model import Fact

MOST = 3
VOLATILE = frozenset({"sleep_time", "wake_time", "age"})
_CONCEPTS = {
    "location": "live lives living moved home reside based settled",
    "employer": "work works working job company employer joined employed",
    "job": "work works working job am become",
    "spouse": "wife husband married spouse partner engaged",
    "name": "name named called call",
    "school": "school university college study studying",
    "team": "team",
    "manager": "manager boss report",
    "hometown": "grew born hometown",
}
_CLAUSE = re.compile(r"[.!;:,\n()]+|(?<=\?)|\b(?:but|and|while|whereas|although|because)\b", re.IGNORECASE)
_SELF = frozenset("i i'm im i've my mine we our we're".split())
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NO_NAMES = frozenset(
    "i i'm i've i'd i'll monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december english german french spanish ok okay yes no thanks hello hi "
    "the a an my our we he she they it this that today yesterday tomorrow god".split()
)
_UNSAID = frozenset("not never no longer if would could might may don't didn't isn't wasn't think maybe".split())


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A clause that says otherwise than a fact."""

    fact: Fact
    clause: str


def says_otherwise(text: str, facts: Sequence[Fact]) -> list[Otherwise]:
    """The facts (of single-valued attributes) that a message speaks against, at most three."""
    found: list[Otherwise] = []
    for clause in _CLAUSE.split(text):
        words = _WORD.findall(clause)
        plain = {fold(word) for word in words}
        if not plain & _SELF or plain & _UNSAID or "?" in clause:
            continue
        for fact in facts:
            if len(found) == MOST:
                return found
            if all(fact.id != one.fact.id for one in found) and _against(words, plain, fact):
                found.append(Otherwise(fact, " ".join(clause.split())))
    return found


def _against(words: Sequence[str], plain: set[str], fact: Fact) -> bool:
    slot = (fact.slot_key or "").partition("@")[0]
    if not slot or fact.slot_key != slot or slot in VOLATILE:
        return False
    concepts = {*_CONCEPTS.get(slot, "").split(), *slot.split("_")}
    if not plain & concepts:
        return False
    known = {fold(word) for word in _WORD.findall(fact.text)}
    names = [fold(w) for i, w in enumerate(words) if i and w[0].isupper() and not _NO_NAMES & {fold(w), fold(w)[:-1]}]
    return bool(names) and not known.intersection(names)
