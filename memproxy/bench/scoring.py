"""What a ranked list is worth for one labelled question: how much of the evidence it brings, and in how many tokens.

- **R@k**: the share of the evidence turns among the first k distinct turns; **all@k** is 1 where all of them are.
- **S@k**: the share of the evidence sessions among the first k distinct sessions.
- **MRR**, **NDCG@10**: over distinct turns, each piece of evidence worth the same.
- **RB@T**: the share of the evidence turns inside T tokens of injected text. Items are taken in their order, one that
  does not fit is skipped, each is charged with all of its text, and the same text only once. **allB@T**: all of them.
- **AB@T**: the share of the answer's words that stand in those T tokens, whatever the items claim to be.

Tokens are characters / 4, rounded up item by item: the same for every model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memproxy.bench.dataset import Question, RecordedTurn

TURNS = (5, 10, 20, 50)
SESSIONS = (1, 3, 5)
BUDGETS = (500, 1000, 2000, 4000)
UNANSWERABLE = ("adversarial", "abstention")  # counted, but no part of the mean: nothing stands for them to be found
_FULL = 4  # tokens left over in which nothing fits any more
_STOPWORDS = frozenset(
    "a an the and or of to in on at for with by from as is are was were be been it its this that these those he she "
    "they his her their them i you we my your our not no yes do does did has have had will would can could so if but "
    "about into than then there".split()
)


@dataclass(frozen=True, slots=True)
class Item:
    """Something found: the recorded turns it shows, and the text that would be injected."""

    ids: tuple[str, ...]
    text: str


def score(items: Sequence[Item], question: Question, turns: Mapping[str, RecordedTurn]) -> dict[str, float]:
    """The measures of one question, by name, each 0..1 (`used@T` in tokens). Evidence must be labelled."""
    gold = frozenset(question.evidence)
    order = list(dict.fromkeys(turn for item in items for turn in item.ids))
    found: dict[str, float] = {}
    if gold:
        found |= _by_turn(gold, order)
    found |= _by_session(question, gold, order, turns)
    words = content_words(str(question.answer)) if question.answer is not None else frozenset()
    for budget in BUDGETS:
        ids, used, text = _packed(items, budget)
        found[f"used@{budget}"] = used
        if gold:
            found[f"RB@{budget}"] = len(gold & ids) / len(gold)
            found[f"allB@{budget}"] = float(gold <= ids)
        if words:
            found[f"AB@{budget}"] = len(words & content_words(text)) / len(words)
    return found


def tokens(text: str) -> int:
    """How many tokens a text is charged with."""
    return math.ceil(len(text) / 4)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that mean something, in small letters."""
    return frozenset(re.findall(r"[a-z0-9]+", text.lower())) - _STOPWORDS


def _by_turn(gold: frozenset[str], order: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for k in TURNS:
        hits = len(gold.intersection(order[:k]))
        found[f"R@{k}"] = hits / len(gold)
        found[f"all@{k}"] = float(hits == len(gold))
    places = [place for place, turn in enumerate(order) if turn in gold]
    found["MRR"] = 1 / (places[0] + 1) if places else 0.0
    gain = sum(1 / math.log2(place + 2) for place in places if place < 10)
    found["NDCG@10"] = gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))
    return found


def _by_session(
    question: Question, gold: frozenset[str], order: Sequence[str], turns: Mapping[str, RecordedTurn]
) -> dict[str, float]:
    wanted = frozenset(question.evidence_sessions) or {turns[turn].session for turn in gold}
    sessions = list(dict.fromkeys(turns[turn].session for turn in order))
    return {f"S@{k}": len(wanted.intersection(sessions[:k])) / len(wanted) for k in SESSIONS}


def _packed(items: Sequence[Item], budget: int) -> tuple[set[str], int, str]:
    """The turns, the tokens and the text of what fits a budget."""
    ids: set[str] = set()
    texts: dict[str, None] = {}
    used = 0
    for item in items:
        cost = tokens(item.text)
        if item.text in texts or used + cost > budget:
            continue
        used += cost
        ids.update(item.ids)
        texts[item.text] = None
        if used > budget - _FULL:
            break
    return ids, used, " ".join(texts)
