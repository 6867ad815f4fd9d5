"""Attributes: one name for each, and which of them have one value at a time.

Names are made one by a table, not by nearness in meaning: with a small model "previous employer" lies nearer to
"employer" (.84) and "work email" to "email" (.86) than "partner" to "spouse" (.77), so any threshold would give a
person's only employer away to a former one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from memproxy.extraction.sameness import people
from memproxy.extraction.standing import Standing, standing
from memproxy.folding import fold

# A new value makes the old one historical.
SINGLE = frozenset(
    "name first_name last_name nickname pronouns gender age birthday height blood_type location address hometown "
    "employer job school team manager email phone diet marital_status spouse timezone sleep_time wake_time".split()
)
# Several values stand side by side, whatever a model calls them.
MULTIPLE = frozenset(
    "hobby interest skill sport activity friend colleague pet child sibling parent allergy condition medication like "
    "dislike favorite preference language nationality weight reading goal relationship project habit possession "
    "other".split()
)
_NAMES = {
    **dict.fromkeys("city town residence home current_city lives_in".split(), "location"),
    **dict.fromkeys("company workplace works_at organization organisation firm".split(), "employer"),
    **dict.fromkeys("job_title profession occupation role position works_as".split(), "job"),
    **dict.fromkeys("birthdate date_of_birth birth_date dob".split(), "birthday"),
    **dict.fromkeys("partner husband wife fiance fiancee boyfriend girlfriend significant_other".split(), "spouse"),
    **dict.fromkeys("relationship_status civil_status".split(), "marital_status"),
    **dict.fromkeys("home_address street_address postal_address".split(), "address"),
    **dict.fromkeys("home_town birthplace place_of_birth".split(), "hometown"),
    **dict.fromkeys("email_address e_mail mail".split(), "email"),
    **dict.fromkeys("phone_number telephone mobile mobile_number telephone_number cell".split(), "phone"),
    **dict.fromkeys("university college".split(), "school"),
    **dict.fromkeys("time_zone tz".split(), "timezone"),
    **dict.fromkeys("full_name given_name preferred_name called".split(), "name"),
    **dict.fromkeys("surname family_name".split(), "last_name"),
    **dict.fromkeys("boss supervisor".split(), "manager"),
    **dict.fromkeys("dietary_preference dietary_restriction diet_type eating".split(), "diet"),
    **dict.fromkeys("bedtime bed_time".split(), "sleep_time"),
    **dict.fromkeys("wake_up_time wakeup_time".split(), "wake_time"),
}
_SPELT = {  # the same word, as it is written elsewhere
    "favourite": "favorite", "colour": "color", "organisation": "organization", "neighbourhood": "neighborhood",
    "neighbour": "neighbor", "behaviour": "behavior", "flavour": "flavor", "honour": "honor", "licence": "license",
    "centre": "center", "theatre": "theater", "programme": "program", "tyre": "tire", "jewellery": "jewelry",
    "grey": "gray", "humour": "humor", "moustache": "mustache", "pyjamas": "pajamas", "fibre": "fiber",
    "specialisation": "specialization", "speciality": "specialty", "cheque": "check", "aeroplane": "airplane",
}  # fmt: skip
_LENGTH = 64
_SORTED = frozenset("email phone address".split())  # people have one of each sort
_SORTS = frozenset("work office business company private personal home school university emergency".split())


@dataclass(frozen=True, slots=True)
class Filled:
    """An attribute of one value, with whose it is, and what a statement says of it."""

    attribute: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class Slots:
    """The attributes a store knows: those built in, and what the operator adds."""

    single: Collection[str] = SINGLE
    names: Mapping[str, str] = field(default_factory=lambda: _NAMES)

    @classmethod
    def with_more(cls, single: Collection[str], names: Mapping[str, str]) -> Slots:
        """The built-in ones, and further single-valued attributes and names of attributes."""
        plain = {_plain(name): _plain(meant) for name, meant in names.items()}
        return cls(SINGLE | {_plain(name) for name in single}, {**_NAMES, **plain})

    def canonical(self, slot: str | None) -> str | None:
        """One name for slots that mean the same attribute; None for no name at all."""
        if not slot:
            return None
        plain = _plain(slot)
        name, _, whose = plain.partition("@")
        name = self.names.get(name) or self.names.get(_singular(name)) or name
        if name not in self.single and _singular(name) in MULTIPLE:
            name = _singular(name)
        return (f"{name}@{whose}" if whose else name)[:_LENGTH] or None

    def key(self, slot: str | None, text: str) -> str | None:
        """The attribute of which no two facts may be current at once, or None where values stand side by side: those of
        plural attributes, and what was, may be, is not, or is besides.
        """
        filled = self.filled(slot, text)
        return filled.attribute if filled is not None and filled.standing == "now" else None

    def filled(self, slot: str | None, text: str) -> Filled | None:
        """The attribute of one value that a statement is about, and how; None where it is about none.

        What is said of others fills their attributes, not the person's: a sister's home is `location@sister`; nor is an
        address for work the one at home.
        """
        name, _, whose = (slot or "").partition("@")
        if slot is None or name not in self.single:
            return None
        others = () if name == "spouse" or whose else sorted(people(text) | _sorts(name, text))
        attribute = f"{name}@{'+'.join(others)}"[:_LENGTH] if others else slot
        return Filled(attribute, standing(text, name))


def _plain(slot: str) -> str:
    name, at, whose = slot.casefold().partition("@")
    words = (_SPELT.get(word, word) for word in re.split(r"[\W_]+", name) if word)
    plain = "_".join(words).removeprefix("current_").removeprefix("my_")
    return plain + (at + re.sub(r"[\W_]+", "_", whose).strip("_") if whose else "")


def _sorts(name: str, text: str) -> frozenset[str]:
    """Of which sort an address is said to be, in the words before it: "work email is …"."""
    before = fold(text).partition(" is ")[0]
    return _SORTS.intersection(re.findall(r"\w+", before)) if name in _SORTED and before != fold(text) else frozenset()


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


DEFAULT = Slots()


def canonical_slot(slot: str | None) -> str | None:
    """One name for slots that mean the same attribute, by the built-in table."""
    return DEFAULT.canonical(slot)
