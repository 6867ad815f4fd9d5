"""Words meet in the stems of their own language, whatever gives that away on either side."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memproxy.recall.languages import FUNCTION_WORDS, language_of
from memproxy.recall.terms import index_terms, query_terms

NOON = datetime(2024, 5, 7, 12, tzinfo=UTC)


def shared(query: str, text: str) -> set[str]:
    return set(query_terms(query)) & set(index_terms(text, "user", NOON).split()[3:])


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("In welchem Haus wohnt meine Tante?", "Unsere Häuser sind alt und das Dach ist undicht."),
        ("Wo habe ich gewohnt, in welcher Wohnung?", "Ich hatte zwei Wohnungen in der Stadt."),
        ("¿Dónde trabaja mi hermana?", "Mis hermanas trabajaban en el puerto."),
        ("¿Qué canciones cantaba mi abuela?", "La canción que cantó la abuela era triste."),
        ("Où sont mes chevaux ?", "Le cheval que nous avons est dans le pré."),
        ("Dove lavorano le mie sorelle?", "Mia sorella lavorava in una fabbrica."),
        ("Waar wonen mijn broers?", "Mijn broer woont in een dorp."),
        ("Где живут мои сёстры?", "Моя сестра живёт в Твери."),
        ("أين كتابي", "قرأت الكتاب أمس"),
        ("姉はどこに住んでいますか", "姉は京都に住んでいます"),
        ("我姐姐住在哪里？", "我的姐姐住在成都。"),
        ("언니는 어디에 살아요?", "우리 언니는 부산에서 살아요."),
        ("พี่สาวของฉันอยู่ที่ไหน", "พี่สาวของฉันอยู่ที่เชียงใหม่"),
    ],
)
def test_forms_of_a_word_meet_in_many_languages(query: str, text: str) -> None:
    assert shared(query, text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("wo wohnt meine schwester", "german"),
        ("dónde vive mi hermana", "spanish"),
        ("où habite ma sœur", "french"),
        ("dove abita mia sorella", "italian"),
        ("onde mora a minha irmã", "portuguese"),
        ("waar woont mijn zus", "dutch"),
        ("where does my sister live", None),
        ("the die was cast in the harbour, and we were on the pier", None),
        ("otters", None),
        ("", None),
        ("я люблю чай", None),
    ],
)
def test_the_commonest_words_of_a_text_tell_its_language(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_what_gives_no_language_away_meets_what_does_and_the_other_way_round() -> None:
    assert shared("Schwester Bergen", "Meine Schwester wohnt seit drei Jahren in Bergen.") == {"schwester", "bergen"}
    assert shared("Wo wohnt denn meine Schwester?", "Schwester: Bergen") == {"schwester"}


def test_a_question_is_asked_without_the_words_that_tell_nothing_in_its_language() -> None:
    assert set(query_terms("Wo wohnt meine Schwester?")) == {"wohnt", "schwester", "schwest"}
    assert query_terms("wo ist das")  # unless there are no others


def test_english_has_the_stems_it_always_had() -> None:
    assert index_terms("We hiked to the old houses", "user", NOON).split()[3:] == ["user", "hike", "old", "hous"]


@pytest.mark.parametrize(
    ("language", "negations"),
    [
        ("german", "nicht kein keine nie nichts ohne"),
        ("french", "ne pas jamais rien sans non"),
        ("spanish", "no nunca sin nada"),
        ("italian", "non mai senza no"),
        ("portuguese", "não nunca sem nada"),
        ("dutch", "niet geen nooit zonder"),
        ("swedish", "inte ingen aldrig utan"),
    ],
)
def test_a_negation_is_no_word_without_content(language: str, negations: str) -> None:
    assert not set(FUNCTION_WORDS[language].split()) & set(negations.split())
