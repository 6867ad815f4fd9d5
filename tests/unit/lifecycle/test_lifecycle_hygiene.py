"""The look at what says the same twice: no two facts that are alike pass each other unseen."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from memproxy.lifecycle.hygiene import ALIKE, look
from memproxy.store.overview import Condition

NOW = datetime(2026, 3, 1, tzinfo=UTC)
sets_of_words = st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), max_size=9), max_size=12)


def _fact(place: int, words: frozenset[str]) -> Condition:
    terms = " ".join(["2026", "2026-03", "2026-03-01", *(f"{word}xx" for word in sorted(words))])
    return Condition(f"{place:02}", "current", False, 0, NOW, NOW, NOW, terms)


@settings(max_examples=100)
@given(sets_of_words)
def test_a_fact_is_in_a_group_where_an_earlier_one_has_nearly_all_its_words(said: list[frozenset[str]]) -> None:
    found = look([_fact(place, words) for place, words in reversed(list(enumerate(said)))], NOW)
    alike = [
        (f"{one:02}", f"{other:02}")
        for (one, first), (other, second) in combinations(enumerate(said), 2)
        if first and len(first & second) >= ALIKE * len(first | second)
    ]
    grouped = {fact for group in found.duplicates for fact in group}
    assert {later for _, later in alike} <= grouped <= {fact for pair in alike for fact in pair}


def test_thousands_of_facts_of_one_pattern_are_looked_at_in_little_work() -> None:
    """Told apart by a number each says something else; by a name, all say nearly the same. No look at all pairs."""
    pattern = frozenset("likes cats dogs hens bees goats".split())
    names = [f"{one}{other}q" for one in "abcdefghijklmnopqrstuvwxyz" for other in "abcdefghijklmnopqrstuvwxyz"]
    numbered = look([_fact(place, pattern | {str(place)}) for place in range(5000)], NOW)
    named = look([_fact(place, pattern | {name}) for place, name in enumerate(names)], NOW)
    assert numbered.duplicates == []
    assert [len(group) for group in named.duplicates] == [len(names)]
