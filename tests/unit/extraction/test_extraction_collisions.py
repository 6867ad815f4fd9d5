"""Which statements put whom on which side of what."""

from __future__ import annotations

import pytest

from memproxy.extraction.collisions import Sighting, clashes, sightings

SPECIES = {"species": {"cat": ["cat", "kitten"], "dog": ["dog", "puppy"]}}


@pytest.mark.parametrize(
    ("text", "side", "subject"),
    [
        ("Has a dog called Moss", "dog", "moss"),
        ("The dog Moss bit the postman", "dog", "moss"),
        ("Moss is a dog", "dog", "moss"),
        ("Moss is an old grey cat", "cat", "moss"),
        ("Has a kitten named Moss", "cat", "moss"),
        ("Walks her puppy Moss every morning", "dog", "moss"),
        ("Has a cat whose name is Rex", "cat", "rex"),
    ],
)
def test_a_statement_that_names_somebody_takes_a_side(text: str, side: str, subject: str) -> None:
    assert sightings("f", text, SPECIES) == [Sighting("f", "species", side, subject)]


@pytest.mark.parametrize(
    "text",
    [
        "Has a dog",
        "Likes dogs and Moss Street",
        "Moss is not a dog",
        "Moss is afraid of the dog",
        "Eats a hot dog in Tolm",
        "Moss never was a cat",
        "Catalogues stamps with Moss",
    ],
)
def test_a_statement_that_does_not_say_it_takes_none(text: str) -> None:
    assert sightings("f", text, SPECIES) == []


def test_l9_one_subject_on_two_sides_clashes_and_two_subjects_do_not() -> None:
    told = {"f1": "Has a dog called Moss", "f2": "Moss is a cat", "f3": "The cat Rex sleeps", "f4": "MOSS is a dog"}
    found = [sighting for id, text in told.items() for sighting in sightings(id, text, SPECIES)]
    [clash] = clashes(found)
    assert (clash.family, clash.subject) == ("species", "moss")
    assert clash.sides == {"dog": ("f1", "f4"), "cat": ("f2",)}
