"""Plain wishes to a memory, in every language of the list; and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.extraction.control import AboutMe, Forget, Remember, understood
from memproxy.extraction.control.languages import LANGUAGES

# In each language: to remember (with what), to forget (with what), to be told, and what looks like one and is none.
SAID: dict[str, tuple[tuple[str, str], tuple[str, str], str, str]] = {
    "en": (
        ("Remember that I'm allergic to nuts", "I'm allergic to nuts"),
        ("Please forget that I live in Brask", "I live in Brask"),
        "What do you know about me?",
        "Don't forget that I have to call mom",
    ),
    "de": (
        ("Merk dir bitte, dass ich Vegetarier bin.", "ich Vegetarier bin"),
        ("Vergiss, dass ich in Brask wohne", "ich in Brask wohne"),
        "Was weißt du über mich?",
        "Vergiss nicht, dass ich morgen komme",
    ),
    "fr": (
        ("Souviens-toi que je suis végétarien", "je suis végétarien"),
        ("Oublie que j'habite à Brask", "j'habite à Brask"),
        "Que sais-tu de moi ?",
        "N'oublie pas que je viens demain",
    ),
    "es": (
        ("Recuerda que soy vegetariano", "soy vegetariano"),
        ("Olvida que vivo en Brask", "vivo en Brask"),
        "¿Qué sabes de mí?",
        "No olvides que vengo mañana",
    ),
    "it": (
        ("Ricordati che sono vegetariano", "sono vegetariano"),
        ("Dimentica che vivo a Brask", "vivo a Brask"),
        "Cosa sai di me?",
        "Non dimenticare che vengo domani",
    ),
    "pt": (
        ("Lembre-se de que sou vegetariano", "sou vegetariano"),
        ("Esqueça que moro em Brask", "moro em Brask"),
        "O que você sabe sobre mim?",
        "Não se esqueça de que venho amanhã",
    ),
    "nl": (
        ("Onthoud dat ik vegetariër ben", "ik vegetariër ben"),
        ("Vergeet dat ik in Brask woon", "ik in Brask woon"),
        "Wat weet je over mij?",
        "Vergeet niet dat ik morgen kom",
    ),
    "sv": (
        ("Kom ihåg att jag är vegetarian", "jag är vegetarian"),
        ("Glöm att jag bor i Brask", "jag bor i Brask"),
        "Vad vet du om mig?",
        "Glöm inte att jag kommer imorgon",
    ),
    "no": (
        ("Husk at jeg er vegetarianer", "jeg er vegetarianer"),
        ("Glem at jeg bor i Brask", "jeg bor i Brask"),
        "Hva vet du om meg?",
        "Ikke glem at jeg kommer i morgen",
    ),
    "da": (
        ("Husk at mit navn er Bo Tarrow", "mit navn er Bo Tarrow"),
        ("Glem at vores hund hedder Moss", "vores hund hedder Moss"),
        "Hvad ved du om mig?",
        "Glem ikke at jeg kommer i morgen",
    ),
    "fi": (
        ("Muista, että olen kasvissyöjä", "olen kasvissyöjä"),
        ("Unohda, että asun Braskissa", "asun Braskissa"),
        "Mitä tiedät minusta?",
        "Älä unohda, että tulen huomenna",
    ),
    "pl": (
        ("Zapamiętaj, że jestem wegetarianinem", "jestem wegetarianinem"),
        ("Zapomnij, że mieszkam w Brask", "mieszkam w Brask"),
        "Co o mnie wiesz?",
        "Nie zapomnij, że jutro przyjdę",
    ),
    "cs": (
        ("Zapamatuj si, že jsem vegetarián", "jsem vegetarián"),
        ("Zapomeň, že bydlím v Brasku", "bydlím v Brasku"),
        "Co o mně víš?",
        "Nezapomeň, že zítra přijdu",
    ),
    "hu": (
        ("Jegyezd meg, hogy vegetáriánus vagyok", "vegetáriánus vagyok"),
        ("Felejtsd el, hogy Braskban lakom", "Braskban lakom"),
        "Mit tudsz rólam?",
        "Ne felejtsd el, hogy holnap jövök",
    ),
    "tr": (
        ("Hatırla: benim adım Bo Tarrow", "benim adım Bo Tarrow"),
        ("Unut: benim evim Brask'ta", "benim evim Brask'ta"),
        "Benim hakkımda ne biliyorsun?",
        "Unutma, yarın geliyorum",
    ),
    "ru": (
        ("Запомни, что я вегетарианец", "я вегетарианец"),
        ("Забудь, что я живу в Браске", "я живу в Браске"),
        "Что ты знаешь обо мне?",
        "Не забудь, что я приду завтра",
    ),
    "zh": (
        ("请记住我对花生过敏", "我对花生过敏"),
        ("忘记我住在北京", "我住在北京"),
        "关于我你知道什么？",
        "别忘记我明天来",
    ),
    "ja": (
        ("覚えておいて、私は猫が好き", "私は猫が好き"),
        ("忘れて、私は東京に住んでいる", "私は東京に住んでいる"),
        "私について何を知っていますか？",
        "私が明日来ることを忘れないで",
    ),
    "ko": (
        ("기억해 줘, 나는 채식주의자야", "나는 채식주의자야"),
        ("잊어 줘, 나는 서울에 살아", "나는 서울에 살아"),
        "나에 대해 뭘 알고 있어?",
        "내일 온다는 것을 잊지 마",
    ),
    "ar": (
        ("تذكر أن اسمي بو تارو", "اسمي بو تارو"),
        ("انس أنني أعيش في براسك", "أعيش في براسك"),
        "ماذا تعرف عني؟",
        "لا تنس أنني قادم غدا",
    ),
    "he": (
        ("תזכור שאני צמחוני", "אני צמחוני"),
        ("תשכח שאני גר בבראסק", "אני גר בבראסק"),
        "מה אתה יודע עליי?",
        "אל תשכח שאני בא מחר",
    ),
    "hi": (
        ("याद रखो कि मैं शाकाहारी हूँ", "मैं शाकाहारी हूँ"),
        ("भूल जाओ कि मैं ब्रास्क में रहता हूँ", "मैं ब्रास्क में रहता हूँ"),
        "तुम मेरे बारे में क्या जानते हो?",
        "मत भूलना कि मैं कल आऊँगा",
    ),
}


def test_every_language_of_the_list_is_tried() -> None:
    assert set(SAID) == set(LANGUAGES)


@pytest.mark.parametrize("language", SAID)
def test_a_plain_wish_is_understood(language: str) -> None:
    (remember, kept), (forget, gone), about_me, none = SAID[language]
    assert understood(remember) == [Remember(kept)]
    assert understood(forget) == [Forget(gone)]
    assert understood(about_me) == [AboutMe()]
    assert understood(none) == []


@pytest.mark.parametrize(
    "text",
    [
        "Forget it",
        "forget that",
        "Never forget that I love you",
        "Don't forget to call mom",
        "Did you forget that I live in Brask?",
        "Remember that film?",
        "Remember that time in Oslo",
        "Remember that I live in Brask?",
        "I can't remember that I said so",
        "She said: remember that I am kind",
        'Translate "remember that I am allergic to nuts" to German',
        "Make this friendlier:\nRemember that I am out tomorrow",
        "Translate this.\nRemember that I am allergic to nuts.",
        "Can you fix this sentence? Remember that I have two dogs.",
        "Übersetze das bitte. Merk dir, dass ich keine Nüsse esse.",
        "Traduis cette phrase. Souviens-toi que je suis allergique aux noix.",
        "> forget that I live in Brask\nWhat does he mean?",
        "```\nforget that I live in Brask\n```",
        "- remember that I am kind\n- forget that I live in Brask",
        "What do you know about me and my friends?",
        "What do you know about measles?",
        "If I were you I would forget that I live in Brask",
        "Remember to water the plants",
        f"Remember that I live in Brask. {'And so on. ' * 80}",
    ],
)
def test_what_is_not_plainly_a_wish_is_none(text: str) -> None:
    assert understood(text) == []


def test_a_wish_stands_among_other_sentences() -> None:
    said = "Hi! Please remember that my sister is called Ida. What shall we cook?"
    assert understood(said) == [Remember("my sister is called Ida")]


@given(st.text(max_size=200))
def test_any_text_is_read_without_trouble(text: str) -> None:
    assert isinstance(understood(text), list)
