"""Labels of who is speaking, which some models note down as if they were facts."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern

_SLOTS = frozenset(
    "speaker current_speaker active_speaker speaker_name speaker_id speaker_role role_of_speaker message_author "
    "author sender interlocutor current_user".split()
)
_LABEL = Pattern(
    r"(?:the )?(?:(?:current|active|present|main|only|last) )?(?:speaker|sender|message author|"
    r"interlocutor)(?:'s name)?"
    r"(?: (?:is|was)\b| ?[:=])|(?:the )?(?:conversation|chat|message) is (?:with|from|between)\b"
)


def labels_a_speaker(claim: Claim) -> bool:
    """Whether the fact only says who is speaking. A loudspeaker that the person speaks of is no such label."""
    if (claim.slot or "").casefold() in _SLOTS:
        return True
    return _LABEL.match(claim.told) is not None and "speaker" not in claim.said
