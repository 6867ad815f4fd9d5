"""What a person typed is told from what a program put around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.typed import ADDED, typed_words
from tests.growth import MOST, growth

ASKED = "Please rename the boat class.\nI always use snake_case."


RETRIEVED = (
    "### Task:\nRespond to the user query using the provided context.\n<context>\n<source>x</source>\n</context>\n\n"
)


@pytest.mark.parametrize(
    "turn",
    [
        f"<system-reminder>\nToday's date is 2026-11-30.\n</system-reminder>\n{ASKED}",
        f"{ASKED}\n<system-reminder>The todo list is empty.</system-reminder>",
        f"<ide_opened_file>boat.py is open</ide_opened_file>\n<ide_selection>class Boat</ide_selection>\n{ASKED}",
        f"<environment_context>\n  <cwd>/home/bo</cwd>\n</environment_context>\n\n{ASKED}",
        f"<task>\n{ASKED}\n</task>\n\n<environment_details>\n# Visible files\nboat.py\n</environment_details>",
        f"<attached_files><file path='b'>I live in Tolm</file></attached_files>\n<user_query>\n{ASKED}\n</user_query>",
        f'<attachments>\n<attachment id="b">x</attachment>\n</attachments>\n<userRequest>\n{ASKED}\n</userRequest>',
        f"# Context from my IDE setup:\n\n## Active file: boat.py\n\n## My request for Codex:\n{ASKED}",
        f"{ASKED}\n--- Content from referenced files ---\nI live in Tolm\n--- End of content ---",
        f"{RETRIEVED}{ASKED}",
        f"{RETRIEVED}<user_query>\n{ASKED}\n</user_query>",
        f"<system-reminder>a <user_info>b</user_info> c</system-reminder>{ASKED}<system-reminder>d</system-reminder>",
    ],
)
def test_the_persons_words_are_found_among_what_a_program_added(turn: str) -> None:
    assert typed_words(turn) == ASKED


@pytest.mark.parametrize(
    "turn",
    [
        "<system-reminder>The file was changed.</system-reminder>",
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>",
        "<local-command-stdout>ok</local-command-stdout>",
        "# AGENTS.md instructions for /home/bo\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        "This session is being continued from a previous conversation that ran out of context. The user lives in Tolm.",
        "This is the Gemini CLI. We are setting up the context for our chat.\nToday is Monday.",
        "[read_file for 'boat.py'] Result:\n\nI live in Tolm",
        "[Request interrupted by user]",
        "<user_query>\n<system-reminder>x</system-reminder>\n</user_query>",
    ],
)
def test_a_turn_that_a_program_made_has_no_words_of_the_person(turn: str) -> None:
    assert typed_words(turn).strip() == ""


@pytest.mark.parametrize(
    "said",
    [
        "I live in Tolm",
        "What is the <context> element good for? </context>",
        "Here is my letter: <file>Dear Bo</file>",
        "<task>Paint the fence</task>",
        "if a < b and c > d: print('<b>bold</b>')",
        "An unclosed <system-reminder> in my own sentence",
        "  leading and trailing blanks stay  ",
        "### Task: paint the fence\n<context>the garden</context>",
    ],
)
def test_what_a_person_wrote_themselves_stays_as_it_is(said: str) -> None:
    assert typed_words(said) == said


def test_further_elements_can_be_named() -> None:
    assert typed_words("<Our-Bot-State>x</Our-Bot-State>I sail", {"our-bot-state"}) == "I sail"
    assert typed_words("<our-bot-state>x</our-bot-state>I sail") != "I sail"


@given(st.text(st.sampled_from("ab <>/"), max_size=30), st.sampled_from(sorted(ADDED)), st.text("ab \n", max_size=9))
def test_whatever_stands_in_an_added_element_is_no_word_of_the_person(inside: str, name: str, said: str) -> None:
    assert typed_words(f"{said}<{name}>{inside}secret</{name}>").strip() == said.strip()


@pytest.mark.parametrize("piece", ["<system-reminder>", "<system-reminder></x>", "<user_query>", "[", "--- Content"])
def test_reading_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert growth(typed_words, piece) < MOST
    assert growth(typed_words, piece, after="</system-reminder>") < MOST
