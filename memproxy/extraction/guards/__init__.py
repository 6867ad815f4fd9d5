"""What keeps a proposed fact out of memory: small questions about its text and about the place where it was said.

Each guard is one function from a `Claim` to yes or no, with a reason word of `events.Rejection`. A guard may miss;
what it must not do is throw away what people really say of themselves: a fact rejected is not lost (its turn stays and
is found), but a habit of rejecting would leave a memory empty. Texts come from anywhere, so patterns take time linear
in their input.
"""

from __future__ import annotations

from collections.abc import Callable

from memproxy.events import Rejection
from memproxy.extraction.guards.attribution import of_somebody_else, to_the_assistant
from memproxy.extraction.guards.certainty import certainty_raised, speculates
from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.commentary import comments
from memproxy.extraction.guards.hypotheticals import supposed
from memproxy.extraction.guards.literals import vague
from memproxy.extraction.guards.names import names_somebody_else
from memproxy.extraction.guards.negation import negation_changed
from memproxy.extraction.guards.pasted import pasted
from memproxy.extraction.guards.questions import only_asked
from memproxy.extraction.guards.quotations import quoted
from memproxy.extraction.guards.roleplay import played
from memproxy.extraction.guards.situations import one_off
from memproxy.extraction.guards.speakers import labels_a_speaker
from memproxy.extraction.guards.subject import about_others, about_the_assistant
from memproxy.extraction.guards.undone import bygone, undone

Guard = Callable[[Claim], bool]

GUARDS: tuple[tuple[Rejection, Guard], ...] = (
    (Rejection.SPEAKER, labels_a_speaker),
    (Rejection.META, comments),
    (Rejection.ASSISTANT, about_the_assistant),
    (Rejection.ASSISTANT, to_the_assistant),
    (Rejection.PASTED, pasted),
    (Rejection.QUOTATION, quoted),
    (Rejection.ROLE_PLAY, played),
    (Rejection.HYPOTHETICAL, supposed),
    (Rejection.HYPOTHETICAL, undone),
    (Rejection.BYGONE, bygone),
    (Rejection.NAME, names_somebody_else),
    (Rejection.QUESTION, only_asked),
    (Rejection.SITUATIONAL, one_off),
    (Rejection.SOMEBODY_ELSE, of_somebody_else),
    (Rejection.THIRD_PARTY, about_others),
    (Rejection.SPECULATION, speculates),
    (Rejection.CERTAINTY, certainty_raised),
    (Rejection.NEGATION, negation_changed),
    (Rejection.VAGUE, vague),
)


def objection(claim: Claim) -> Rejection | None:
    """Why a claim may not become a fact; None where nothing speaks against it."""
    return next((reason for reason, guard in GUARDS if guard(claim)), None)


__all__ = ["GUARDS", "Claim", "objection"]
