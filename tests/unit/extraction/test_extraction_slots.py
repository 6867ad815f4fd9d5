"""Attributes: what is one attribute, and which have one value at a time."""

from __future__ import annotations

import pytest

from memproxy.extraction.slots import DEFAULT, SINGLE, Slots, canonical_slot


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("spouse", "partner"),
        ("wife", "Husband"),
        ("city", "current_city"),
        ("Job Title", "occupation"),
        ("e-mail", "email address"),
        ("date of birth", "DOB"),
        ("hobbies", "hobby"),
        ("workplace", "company"),
        ("time zone", "timezone"),
    ],
)
def test_l27_wordings_of_one_attribute_are_one(one: str, other: str) -> None:
    assert DEFAULT.canonical(one) == DEFAULT.canonical(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("employer", "previous employer"),
        ("email", "work email"),
        ("phone", "emergency phone"),
        ("location", "favorite location"),
        ("name", "dog name"),
        ("job", "dream job"),
    ],
)
def test_what_only_sounds_alike_stays_apart(one: str, other: str) -> None:
    """Measured with bge-small: these pairs are nearer to each other than "spouse" is to "partner"."""
    assert DEFAULT.canonical(one) != DEFAULT.canonical(other)
    assert DEFAULT.key(DEFAULT.canonical(other), "x") is None


@pytest.mark.parametrize("slot", ["hobby", "skill", "preference", "relationship", "other", "allergies", "pets"])
def test_l46_plural_attributes_have_no_single_value(slot: str) -> None:
    assert DEFAULT.key(DEFAULT.canonical(slot), "Rows") is None


def test_what_is_said_of_others_fills_their_attributes() -> None:
    assert DEFAULT.key("location", "Lives in Tolm") == "location"
    assert DEFAULT.key("location", "Sister lives in Brask") == "location@sister"
    assert DEFAULT.key("location", "His brother and his sister live in Brask") == "location@brother+sister"
    assert DEFAULT.key("spouse", "Wife is called Ada") == "spouse"


def test_an_operator_adds_attributes_and_names() -> None:
    slots = Slots.with_more(["Favourite Team"], {"abode": "location", "club": "favourite team"})
    assert slots.canonical("Abode") == "location"
    assert slots.key(slots.canonical("club"), "Supports Tolm FC") == "favorite_team"
    assert DEFAULT.key("favourite_team", "Supports Tolm FC") is None


@pytest.mark.parametrize("slot", sorted(SINGLE))
def test_a_canonical_name_is_its_own(slot: str) -> None:
    assert DEFAULT.canonical(slot) == slot
    assert DEFAULT.key(slot, "x") == slot


@pytest.mark.parametrize("slot", ["", "  ", "--", None])
def test_no_name_is_no_attribute(slot: str | None) -> None:
    assert DEFAULT.canonical(slot) is None
    assert DEFAULT.key(DEFAULT.canonical(slot), "x") is None


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("favourite_colour", "favorite_color"),
        ("Favourite Colour", "favorite_color"),
        ("neighbourhood", "neighborhood"),
        ("my favourite theatre", "favorite_theater"),
        ("organisation", "company"),
    ],
)
def test_one_attribute_spelt_as_people_spell_it_is_one(british: str, american: str) -> None:
    assert canonical_slot(british) == canonical_slot(american)
