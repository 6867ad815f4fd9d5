"""The extraction prompt: turns of one conversation in, facts the person said of themselves out.

The request holds two labelled parts: `<conversation>`, from which facts may be taken, and `<context>`, from which they
may not. Text of a turn cannot open or close either tag.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from memproxy.errors import UnusableReply
from memproxy.model import Turn
from memproxy.prompts.json_values import json_values
from memproxy.settings import zone

# What the prompt shows. None of it may come back as a fact of somebody who said no such thing.
EXAMPLES = (
    "Keeps three beehives on the roof",
    "Is moving to Lindholm in October 2021",
    "Works at Tarrow Ltd",
    "Sister Jorun dislikes opera",
)

SYSTEM = f"""You note down what a person says about themselves, so that an assistant can remember it later.

Read the <conversation> part. Write down each lasting fact that the USER states about their own life: who they are, \
what they have, do, plan, like, need or decided, and their relation to the people they mention. The <context> part \
only helps you understand; take nothing from it.

Rules:
- Only what the user said, in the language they said it in: never translate. Names, numbers, codes, versions and \
amounts exactly as written.
- One fact a sentence, complete without the conversation: {json.dumps(EXAMPLES[2])}, not "works there".
- Keep every "not", "never", "no longer", "maybe" and "might". Guess nothing.
- Other people only by what they are to the user ({json.dumps(EXAMPLES[3])}), and never as the user. The user's \
name only if they say it is theirs. Nothing about the assistant.
- No small talk, no questions (but what a question takes for granted: "my twins"), no sums, no requests for one \
answer ("this time in three bullets"; "from now on always …" is a fact), nothing only supposed, nothing the assistant \
said or suggested, nothing from quotations, role play, stories, or text pasted to be worked on.
- "quote" is the user's words that say it, copied letter by letter.
- Turn relative dates into dates, using the date in front of the turn: "reference_time" is the day it happened or \
was said (YYYY-MM-DD); "started_at" is since when, if they say for how long.
- "type" is identity (who they are), event (what happened or is planned) or pattern (what they do again and again). \
"slot" names an attribute that has one value at a time (location, employer, name, diet); leave it out for the rest.
- "significance" is 1 to 10; 8 and more for health, family, safety and identity. "confidence" is 0 to 1.
- Nothing to note down is the usual case: answer {{"facts": []}}.

Answer with one JSON object. This shows the form only, never its content:
{{"facts": [{{"text": {json.dumps(EXAMPLES[0])}, "quote": "I keep three beehives on our roof", "speaker": "user", \
"type": "identity", "slot": null, "tag": "hobby", "significance": 5, "confidence": 0.9, \
"reference_time": "2021-04-02", "started_at": null, "emotional_weight": null, "emotional_valence": null, \
"thread_status": null}}, {{"text": {json.dumps(EXAMPLES[1])}, "quote": "in October we move to Lindholm", \
"speaker": "user", "type": "event"}}]}}

"speaker" is user or assistant. "tag" is one of skill, preference, relationship, medical, location, work, hobby, \
personal, financial, prediction, other. "thread_status" is open for something unresolved the user will come back to, \
resolved for what settles such a thing."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "quote": {"type": ["string", "null"]},
                    "speaker": {"type": "string", "enum": ["user", "assistant"]},
                    "type": {"type": "string", "enum": ["identity", "event", "pattern"]},
                    "slot": {"type": ["string", "null"]},
                    "tag": {"type": "string"},
                    "significance": {"type": "integer"},
                    "confidence": {"type": "number"},
                    "reference_time": {"type": ["string", "null"]},
                    "started_at": {"type": ["string", "null"]},
                    "emotional_weight": {"type": ["number", "null"]},
                    "emotional_valence": {"type": ["string", "null"]},
                    "thread_status": {"type": ["string", "null"]},
                },
                "required": ["text"],
            },
        }
    },
    "required": ["facts"],
}


@dataclass(frozen=True, slots=True)
class Window:
    """One extraction request: the turns to learn from, and the assistant's words just before them."""

    turns: tuple[Turn, ...]
    context: tuple[Turn, ...]
    topic: str | None = None  # what the conversation is about, and of what class it is, where whoever sent it said so
    label: str | None = None


def messages(window: Window, timezone: ZoneInfo) -> list[dict[str, str]]:
    """The chat messages of one extraction request."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": conversation(window, timezone)}]


def conversation(window: Window, timezone: ZoneInfo) -> str:
    """The two labelled parts: what only helps to understand, and what facts may be taken from."""
    dates = sorted({_said_on(turn, timezone).date().isoformat() for turn in window.turns})
    context = "\n".join(_line(turn, timezone) for turn in window.context)
    told = {"Date of the conversation": ", ".join(dates), "Topic": window.topic, "Classification": window.label}
    head = "\n".join(f"{name}: {defuse(' '.join(text.split()))}" for name, text in told.items() if text)
    return (
        f"{head}\n\n"
        f"<context>\n{context}\n</context>\n\n"
        f"<conversation>\n{chr(10).join(_line(turn, timezone) for turn in window.turns)}\n</conversation>"
    )


def _line(turn: Turn, timezone: ZoneInfo) -> str:
    name = f" ({defuse(' '.join(turn.name.split()))})" if turn.name else ""
    return f"[{_day(_said_on(turn, timezone))}] {turn.role}{name}: {defuse(turn.content)}"


def _said_on(turn: Turn, timezone: ZoneInfo) -> datetime:
    """When it was said, by the clocks of where it was said."""
    return turn.time.astimezone(zone(turn.timezone or "") or timezone)


def _day(when: datetime) -> str:
    return when.strftime("%A %Y-%m-%d")


_ANGLE = re.compile(r"([<＜﹤〈⟨]|&(?:lt|#60|#x3c);)([^\w<＜﹤〈⟨&]*+)", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_OUR_TAGS = ("conversation", "context")
_NAME = 60  # characters in which a tag's name ends, with what nobody sees between its letters


def defuse(text: str) -> str:
    """The text with every angle that could open or close one of our tags, however it is spelt, made harmless."""
    return _ANGLE.sub(_harmless, text)


def _harmless(angle: re.Match[str]) -> str:
    behind = _UNSEEN.sub("", angle.string[angle.end() : angle.end() + _NAME])
    ours = unicodedata.normalize("NFKC", behind).casefold().startswith(_OUR_TAGS)
    return f"‹{angle[2]}" if ours else angle[0]


# --- the reply ---------------------------------------------------------------------------------------------

_LISTS = ("facts", "memories", "memory", "items", "results")
_TEXTS = ("text", "fact", "content", "memory", "statement")
_UNREADABLE: Mapping[str, Any] = {"text": ""}


def parse(reply: str) -> list[Mapping[str, Any]]:
    """The facts of a reply, as objects with a `text`, whatever surrounds the JSON.

    Tolerates reasoning sections, code fences, prose with brackets, bare lists, lists of strings and other key names
    (servers accept a schema without enforcing it). What stands under the documented key counts before anything else
    that looks like JSON. An entry that cannot be read comes as an empty text, so that whoever validates can count it.
    Raises UnusableReply where no JSON value of a usable shape is found.
    """
    named: list[list[Mapping[str, Any]]] = []
    bare: list[list[Mapping[str, Any]]] = []
    for value in json_values(reply):
        if (facts := _listed(value)) is not None:
            named.append(facts)
        elif (facts := _unlisted(value)) is not None:
            bare.append(facts)
    if named:
        return next(filter(None, named), [])
    if bare:
        return [fact for facts in bare for fact in facts]
    raise UnusableReply("no-json")


def salvage(reply: str) -> list[Mapping[str, Any]]:
    """The complete fact objects of a reply that was cut off; never the stump. For the last attempt only."""
    found: list[Mapping[str, Any]] = []
    for value in json_values(reply):
        if isinstance(value, dict):
            found += _listed(value) or _unlisted(value) or []
    return [fact for fact in found if fact["text"]]


def _listed(value: object) -> list[Mapping[str, Any]] | None:
    """The facts under the documented key (or one of its usual variants); None for any other value."""
    if not isinstance(value, dict):
        return None
    key = next(
        (name for name in _LISTS if name in value and not (name in _TEXTS and isinstance(value[name], str))), None
    )
    if key is None:
        return [] if not value else None
    entries = value[key]
    if isinstance(entries, list):
        return [_fact(entry) or _UNREADABLE for entry in entries]
    return [] if entries is None else [_UNREADABLE]


def _unlisted(value: object) -> list[Mapping[str, Any]] | None:
    """The facts of a bare list, or a bare fact."""
    if isinstance(value, list) and all(isinstance(entry, str | dict) for entry in value):
        return [_fact(entry) or _UNREADABLE for entry in value]
    fact = _fact(value) if isinstance(value, dict) else None
    return [fact] if fact is not None else None


def _fact(entry: object) -> Mapping[str, Any] | None:
    if isinstance(entry, str):
        return {"text": entry} if entry.strip() else None
    if not isinstance(entry, dict):
        return None
    text = next((entry[name] for name in _TEXTS if isinstance(entry.get(name), str)), None)
    return {**entry, "text": text} if text else None
