"""What a statement says of an attribute: what it is now, was, may be, or is besides."""

from __future__ import annotations

import pytest

from memproxy.extraction.standing import standing


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("location", "Lives in Tolm"),
        ("location", "Has lived in Tolm since 2010"),
        ("location", "Has always lived in Tolm"),
        ("location", "Used to live in Tolm, now lives in Brask"),
        ("location", "Moved to Brask in May"),
        ("location", "Is moving to Brask on 1 June"),
        ("location", "Lives in Second Street"),
        ("location", "Lives in Left Bank"),
        ("employer", "Was hired by Tarrow"),
        ("employer", "Got a new job at Olm"),
        ("employer", "Recently joined Olm, left Tarrow"),
        ("spouse", "Is married to Ada"),
        ("spouse", "Wife is called May"),
        ("manager", "Boss is called Will"),
        ("name", "Wants to be called Max"),
        ("name", "No, Maxi"),
        ("birthday", "Was born on 3 May"),
        ("hometown", "Grew up in Tolm"),
        ("diet", "Does not eat meat"),
        ("diet", "Only eats fish"),
        ("marital_status", "Is divorced"),
        ("job", "Is retired"),
        ("sleep_time", "Usually goes to bed at 11"),
        ("email", "Email is no-reply@x.example"),
        ("location", "Wohnt in Köln"),
        ("location", "Habite à Paris"),
        ("location", "Vive en Sevilla"),
        ("location", "住在青岛"),
    ],
)
def test_what_is_now(attribute: str, text: str) -> None:
    assert standing(text, attribute) == "now"


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("location", "Used to live in Tolm"),
        ("location", "Lived in Tolm until 2019"),
        ("location", "Does not live in Tolm"),
        ("location", "Is not moving to Olm"),
        ("employer", "Previous employer was Tarrow"),
        ("employer", "Left Tarrow last week"),
        ("employer", "Worked at Quill from 2010 to 2015"),
        ("spouse", "Ex-wife is called Ada"),
        ("spouse", "First wife was Iris"),
        ("spouse", "Is divorced from Ada"),
        ("name", "Was called Ann Hill"),
        ("team", "Left the platform team"),
        ("job", "Is no longer a nurse"),
        ("diet", "Used to be vegetarian"),
        ("location", "Wohnte früher in Köln"),
        ("location", "N'habite plus à Paris"),
        ("location", "Ya no vive en Sevilla"),
        ("location", "以前住在青岛"),
        ("location", "不再住在青岛"),
    ],
)
def test_what_is_over_or_is_not(attribute: str, text: str) -> None:
    assert standing(text, attribute) == "over"


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("location", "Will move to Olm"),
        ("location", "Might move to Lund"),
        ("location", "May move to Lund"),
        ("location", "Is thinking of moving to Lund"),
        ("employer", "Would like to work at Zed"),
        ("employer", "Hopes to work at Zed"),
        ("location", "Überlegt, nach Bonn zu ziehen"),
        ("location", "Veut habiter à Lyon"),
        ("location", "想住在青岛"),
    ],
)
def test_what_is_left_open(attribute: str, text: str) -> None:
    assert standing(text, attribute) == "open"


@pytest.mark.parametrize("text", ["Also freelances for Olm", "Works at Olm as well", "Arbeitet auch bei Olm"])
def test_what_is_besides(text: str) -> None:
    assert standing(text, "employer") == "beside"
