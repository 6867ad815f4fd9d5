"""Where a model's cosines lie: the floor above which a passage bears on a question, and when two statements may be one.

Cosines of different models cannot be compared: unrelated texts sit near .4 with one and near .1 with another. A model
nobody has measured is asked about a few sentences that have nothing to do with one another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Protocol, TypeAlias

from memproxy.embedders.model_files import ModelFiles
from memproxy.interfaces import Vectors
from memproxy.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

QUESTIONS = (
    "how do I boil an egg?",
    "what is the capital of France?",
    "who won the chess tournament?",
    "when does the library open?",
    "write a function that sorts a list",
    "which bus goes to the harbour?",
)
MOST_OFF = 0.05
_STATEMENTS = (
    "user: My grandmother keeps bees behind the house.",
    "user: I broke my wrist skating last winter.",
    "assistant: Photosynthesis turns light into sugar.",
    "user: The rent went up by forty a month.",
    "user: Our cat is afraid of thunder.",
    "assistant: The second movement is slower than the first.",
)
_SAME = (
    ("I like otters", "I love otters"),
    ("My sister lives in Oslo", "My sister's home is Oslo"),
    ("I work as a nurse", "I am a nurse by profession"),
    ("The meeting is on Friday", "We meet on Friday"),
)
DOCUMENTS = (*_STATEMENTS, *(pair[0] for pair in _SAME), *(pair[1] for pair in _SAME))

Embeds: TypeAlias = "Callable[[Sequence[str]], Awaitable[Vectors]]"


class Runs(Protocol):
    """What calibration needs of a model."""

    def tokens(self, text: str) -> list[int]:
        """Token ids."""
        ...

    def embed(self, token_ids: Sequence[Sequence[int]]) -> Vectors:
        """Unit vectors."""
        ...


def calibrate(model: Runs, files: ModelFiles) -> tuple[float, float]:
    """(floor, duplicate) of a model on this machine."""

    def vectors(texts: Sequence[str], prefix: str) -> Vectors:
        return model.embed([model.tokens(prefix + text) for text in texts])

    return _levels(vectors(QUESTIONS, files.query_prefix), vectors(DOCUMENTS, files.document_prefix))


async def calibrate_remote(questions: Embeds, documents: Embeds) -> tuple[float, float]:
    """(floor, duplicate) of a model behind an API, asked in two calls. Raises what they raise."""
    return _levels(await questions(QUESTIONS), await documents(DOCUMENTS))


def floor_among(questions: Vectors, passages: Vectors, stated: float) -> float:
    """The floor as passages of a real memory have it: three deviations above what questions that have nothing to do
    with them reach; no farther than MOST_OFF from what was stated of the model.

    `questions` are the vectors of QUESTIONS, `passages` some of everybody's. Pairs of passages would say too much:
    what one person tells in two conversations lies much nearer together than a question does to what it is not about.
    """
    unrelated = (questions @ passages.T).ravel()
    found = float(unrelated.mean() + 3 * unrelated.std())
    return round(min(max(found, stated - MOST_OFF), stated + MOST_OFF), 3)


def _levels(questions: Vectors, documents: Vectors) -> tuple[float, float]:
    """The floor lies three deviations above unrelated questions and statements; two statements may be one from halfway
    between unrelated and paraphrased ones. For bge-small .55 and .76, where whole conversations gave .6 and .9.
    """
    statements, ones, others = np.split(documents, [len(_STATEMENTS), len(_STATEMENTS) + len(_SAME)])
    unrelated = (questions @ statements.T).ravel()
    floor = float(unrelated.mean() + 3 * unrelated.std())
    apart = max(float(a @ b) for a, b in combinations(statements, 2))
    alike = float((ones * others).sum(axis=1).mean())
    return round(floor, 3), round(max((apart + alike) / 2, floor), 3)
