"""Front ends' own calls are told from somebody speaking."""

from __future__ import annotations

import re

import pytest

from memproxy.chores import is_chore
from memproxy.model import ChatRequest, Message
from tests.growth import MOST, growth


def request(*said: str, **fields: object) -> ChatRequest:
    return ChatRequest(tuple(Message("user", text) for text in said), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "prompt",
    [
        "### Task:\nGenerate a concise, 3-5 word title with an emoji.\n<chat_history>\nUSER: I sail\n</chat_history>",
        "### Task:\nGenerate 1-3 broad tags.\n### Output:\nJSON\n<chat_history>\nUSER: I sail\n</chat_history>",
        "### Task:\nSuggest 3-5 relevant follow-up questions.\n<chat_history>x</chat_history>",
        "Generate a short title for this conversation.",
        "Please write a title for the following chat:\n\nUSER: I sail a dinghy",
        "Summarize this conversation in 5 words or less.",
        "Create a concise, 3-5 word phrase as a title for the query: I sail",
        "Based on the chat, generate search queries for this conversation.",
        "Based on the chat history, give this conversation a name. Keep it short.",
        "Summarize in a 10-word Title. Give the title only.\nI sail a dinghy",
        "Analyze the given short conversation and extract a concise title.\nUSER: I sail",
        "Summarize the following content in a SINGLE sentence (under 10 words) using past tense: I sail",
        "### Task:\nYou are an autocompletion system.\n### Output:\nJSON\n<chat_history>\nI sail\n</chat_history>",
        "quota",
    ],
)
def test_a_title_tag_or_follow_up_prompt_is_a_chore(prompt: str) -> None:
    assert is_chore(request(prompt))


@pytest.mark.parametrize(
    "said",
    [
        "I sail a dinghy",
        "Give me a title for my novel about the sea",
        "Can you write a short story of about 500 words?",
        "Summarize the book Heidi for me",
        "What is the <chat_history> tag good for?",
        "My task: paint the fence",
        "I need to create a chat for my sailing club, any name?",
        "Generate tags for my photo of a heron",
        "Give me a name for my chat app about boats",
        "I need a title for a talk about conversations with my grandmother",
    ],
)
def test_what_a_person_asks_is_no_chore(said: str) -> None:
    assert not is_chore(request(said))


@pytest.mark.parametrize(
    "purpose",
    [
        "You are a title generator. You output ONLY a thread title. Nothing else.",
        "You are an expert in crafting pithy titles for chatbot conversations.",
        "You will generate a short title based on the first message a user begins a conversation with.",
        "Generate a concise 3-7 word title for this conversation, omitting punctuation.",
        "You need to summarize the user's conversation into a title within 10 words.",
        "Analyze if this message indicates a new conversation topic.",
    ],
)
def test_a_system_prompt_whose_purpose_is_a_title_makes_a_chore(purpose: str) -> None:
    assert is_chore(ChatRequest((Message("user", "I sail a dinghy"),), system=purpose))
    assert is_chore(ChatRequest((Message("system", purpose), Message("user", "I sail a dinghy"))))


@pytest.mark.parametrize(
    "purpose",
    [
        "You are a friendly companion. You may give the chat a title when asked.",
        "You write catchy titles for blog articles from drafts.",
        "You are a helpful assistant in a chat. Answer briefly.",
        "You summarize court files for lawyers.",
    ],
)
def test_an_assistant_that_talks_is_no_chore_whatever_it_is_for(purpose: str) -> None:
    assert not is_chore(ChatRequest((Message("user", "I sail a dinghy"),), system=purpose))


def test_the_same_words_in_the_middle_of_a_conversation_are_no_chore() -> None:
    assert not is_chore(request("I sail", "Generate a short title for this conversation."))


def test_a_probe_for_one_token_is_a_chore() -> None:
    assert is_chore(request("I sail a dinghy", max_tokens=1))
    assert not is_chore(request("I sail a dinghy", max_tokens=2))


def test_an_operators_pattern_counts_anywhere_in_the_newest_message() -> None:
    assert is_chore(request("I sail", "NIGHTLY-PROBE 7"), [re.compile("^NIGHTLY-PROBE")])
    assert not is_chore(request("NIGHTLY-PROBE 7", "I sail"), [re.compile("^NIGHTLY-PROBE")])


def test_a_request_in_which_nobody_speaks_is_no_chore() -> None:
    assert not is_chore(ChatRequest(()))


@pytest.mark.parametrize("before", ["", "concise ", "### Task: ", "generate ", "<chat_history>", "short title "])
@pytest.mark.parametrize("pump", ["1", "1 ", "-", " ", "<chat_history>", "concise ", "generate tags ", "title ", "a"])
def test_looking_takes_time_in_proportion_to_the_text(before: str, pump: str) -> None:
    assert growth(lambda text: is_chore(request(text)), pump, before, small=1_200) < MOST
