"""Credentials are masked by their shape, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.trust import mask_secrets
from memproxy.trust.credentials import MASK
from tests.growth import MOST, growth

A16 = "a1B2" * 4
A40 = "a1B2" * 10

VALUES = [
    "sk-" + "Tt9" * 14,
    "sk-proj-" + A40,
    "sk-ant-api03-" + A40 + "-_x",
    "sk_live_" + A16,
    "rk_test_" + A16,
    "ghp_" + A40,
    "github_pat_" + A40,
    "glpat-" + A16 + "abcd",
    "xoxb-123456789012-" + A16,
    "AKIA" + "ABCD1234" * 2,
    "AIza" + A40[:35],
    "hf_" + A40,
    "gsk_" + A40,
    "xai-" + A40,
    "npm_" + A40,
    "pypi-AgEIcHlwaS5vcmc" + A40,
    "dop_v1_" + "0123456789abcdef" * 4,
    "SG." + A16 + "." + A40,
    "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEA\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow (cut off)",
    "4111 1111 1111 1111",
    "5555-5555-5555-4444",
    "378282246310005",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("frame", ["{}", "my key is {}, store it", "({})", "key={}", "first\n{}\nlast"])
def test_a_credential_is_masked_wherever_it_stands(value: str, frame: str) -> None:
    masked = mask_secrets(frame.format(value))
    assert MASK in masked
    assert not any(piece in masked for piece in value.split() if len(piece) > 8)


def test_the_rest_of_the_sentence_stays_word_for_word() -> None:
    said = "For Tarrow's maps I use sk-" + "Tt9" * 14 + ", ask Jorun; it's free."
    assert mask_secrets(said) == f"For Tarrow's maps I use {MASK}, ask Jorun; it's free."


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("my door PIN is four eight one five", "my door PIN is [secret]"),
        ("My PIN is four, eight, one, five.", "My PIN is [secret]."),
        ("My PIN, it's four eight one five", "My PIN, it's [secret]"),
        ("my password, it is hunter2", "my password, it is [secret]"),
        ("the pin code is 4815", "the pin code is [secret]"),
        ("PIN for the garage is 9-9-1-2", "PIN for the garage is [secret]"),
        ("the alarm code: 48151", "the alarm code: [secret]"),
        ("CVV is 123", "CVV is [secret]"),
        ("my password is swordfish.", "my password is [secret]."),
        ("My password's Xk29dkk", "My password's [secret]"),
        ("my password’s Xk29dkk", "my password’s [secret]"),
        ("the wifi password is Quillhaven and it works", "the wifi password is [secret] and it works"),
        ("the password for the old mail account was Xk29dkk!", "the password for the old mail account was [secret]!"),
        ("log in as bo, password hunter2, please", "log in as bo, password [secret], please"),
        ("password: hunter2", "password: [secret]"),
        ("Password:\nhunter2", "Password:\n[secret]"),
        ('password is "hunter two"', 'password is "[secret]"'),
        ("my passphrase is correct horse battery staple", "my passphrase is [secret]"),
        ("recovery words are apple, pear, plum, cherry", "recovery words are [secret]"),
        ("seed phrase: " + "abandon ability able about above absent absorb abstract absurd abuse access accident",
         "seed phrase: [secret]"),
        ("DB_PASSWORD=hunter22", "DB_PASSWORD=[secret]"),
        ("export OPENAI_API_KEY=abcdefgh12", "export OPENAI_API_KEY=[secret]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [secret]"),
        ('{"password": "hunter2", "user": "bo"}', '{"password": "[secret]", "user": "bo"}'),
        ('{"apiKey":"abc-def"}', '{"apiKey":"[secret]"}'),
        ("Authorization: Bearer abcDEF123456", "Authorization: Bearer [secret]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [secret]"),
        ("curl -H 'Bearer abcdefgh12345678'", "curl -H 'Bearer [secret]'"),
        ("https://bo:s3cret@host.example/x", "https://bo:[secret]@host.example/x"),
        ("postgres://u:p@ss@db.example/main", "postgres://u:[secret]@db.example/main"),
    ],
)  # fmt: skip
def test_a_value_behind_a_word_that_names_it_is_masked(said: str, left: str) -> None:
    assert mask_secrets(said) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Mein Passwort ist hunter2, merk es dir", "Mein Passwort ist [secret], merk es dir"),
        ("Mein Passwort ist Quillhaven.", "Mein Passwort ist [secret]."),
        ("Das Kennwort für das WLAN lautet Xk29dkk!", "Das Kennwort für das WLAN lautet [secret]!"),
        ("Passwort: hunter2", "Passwort: [secret]"),
        ("Meine PIN ist 4815.", "Meine PIN ist [secret]."),
        ("Die PIN ist vier acht eins fünf.", "Die PIN ist [secret]."),
        ("Der Türcode ist 4815", "Der Türcode ist [secret]"),
        ("Mon mot de passe est hunter2.", "Mon mot de passe est [secret]."),
        ("mot de passe : Xk29dkk", "mot de passe : [secret]"),
        ("Le code de la porte est 4815", "Le code de la porte est [secret]"),
        ("Mon code PIN est quatre huit un cinq", "Mon code PIN est [secret]"),
        ("Mi contraseña es hunter2", "Mi contraseña es [secret]"),
        ("La contraseña del wifi es «tres gatos»", "La contraseña del wifi es «[secret]»"),
        ("Il mio codice PIN è 4815", "Il mio codice PIN è [secret]"),
        ("Minha senha é hunter2", "Minha senha é [secret]"),
        ("Mijn wachtwoord is hunter2", "Mijn wachtwoord is [secret]"),
        ("Mitt lösenord är hunter2", "Mitt lösenord är [secret]"),
        ("Moje hasło to hunter2", "Moje hasło to [secret]"),
        ("Мой пароль — hunter2", "Мой пароль — [secret]"),
        ("пароль: hunter2", "пароль: [secret]"),
        ("Код от сейфа 4815", "Код от сейфа 4815"),
        ("我的密码是hunter2，别忘了", "我的密码是[secret]，别忘了"),
        ("门的密码：四八一五", "门的密码：[secret]"),
        ("パスワードはhunter2です", "パスワードは[secret]です"),
        ("비밀번호는 hunter2", "비밀번호는 [secret]"),
    ],
)
def test_j3_a_value_named_in_another_language_is_masked(said: str, left: str) -> None:
    assert mask_secrets(said) == left


ORDINARY = [
    "Mein Passwort ist schwer zu merken",
    "Das Passwort ist falsch und das Kennwort war abgelaufen",
    "Meine PIN ist geheim",
    "Mon mot de passe est trop long",
    "La contraseña es obligatoria",
    "La clave es practicar 30 minutos",
    "La password è scaduta",
    "Minha senha é muito fraca",
    "Mijn wachtwoord is verlopen",
    "Пароль был слишком простой",
    "我的密码是自己想的",
    "パスワードは秘密です",
    "パスワードはGoogleで管理しています",
    "비밀번호는 비밀이에요",
    "my password is hard to remember",
    "The password was changed on Monday",
    "I forgot my password again, and the password is expired",
    "My password is not written down anywhere",
    "passwords: never share them",
    "Password: required",
    "the password reset link goes to https://example.org/reset?user=bo",
    "A strong password is at least 12 characters long",
    "the API key is stored in the vault",
    "API key: see https://example.org/keys",
    "my passphrase is hard to remember for me",
    "the recovery phrase is something that you write on paper",
    "My pin is red and shaped like a heron",
    "My PIN is stuck in my head",
    "The pin is 100 years old",
    "token: str, api_key: str",
    "the bearer responsibilities internationalization committee",
    "a bearer of good news",
    "my package sk-learn-classification-helpers is on the shelf",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "2a8b2330-7562-3589-0de8-bf99f507b2e7",
    "part A4111111111111111 or 4111111111111111B",
    "9fceb02d0ae598e95dc970b74767f19372d6af92a8f1f3a1c0ffee0123456789",
    "commit de9f2c7fd25e1b3afad3e85a0bd17d9b100db4b3 broke it",
    "order number 1234567890123456",
    "invoice 2024-000123-77, LOT-77120, BX-2219-q, v3.11",
    "call me at +43 660 1234567 or +1 (555) 010-9999 or 0660/1234567",
    "+49 1512 3456 7890",
    "ISBN 978-3-16-148410-0 and 9780306406157",
    "born 1970-01-01, moved 2021-05-06T10:00:00+02:00, ms 1700000000000",
    "IBAN-less, 12 345 678 visitors and 3.14159265358979",
    "https://example.org:8080/path@2x.png and git@github.com:owner/repo.git",
    "我的密码很难记",
]


@pytest.mark.parametrize("said", ORDINARY)
def test_ordinary_words_ids_hashes_and_numbers_stay_as_they_are(said: str) -> None:
    assert mask_secrets(said) == said


@given(st.text(max_size=300))
def test_masking_twice_masks_nothing_more(text: str) -> None:
    assert mask_secrets(mask_secrets(text)) == mask_secrets(text)


@given(st.uuids(), st.integers(10**8, 10**12), st.dates())
def test_no_id_date_or_short_number_is_masked(uuid: object, number: int, date: object) -> None:
    said = f"id {uuid}, number {number}, on {date}"
    assert mask_secrets(said) == said


@pytest.mark.parametrize(
    "before",
    [
        "",
        "password",
        "password is",
        "password for ",
        "recovery phrase is ",
        "authorization:",
        "passwort ist ",
        "mot de passe de ",
        "密码是",
    ],
)
@pytest.mark.parametrize(
    "pump",
    [" ", "\n", "a", "a.", "a:", "1", "1 ", "one ", "abcd ", "-", "sk-", "eyJ-", "eyJaaaaaaaa.", "SG.",
     "SG.aaaaaaaaaaaaaaaa", "a://b:", "bearer ", "password ", "password is ", "-----BEGIN PRIVATE KEY-----", "'", '"'],
)  # fmt: skip
def test_masking_takes_time_in_proportion_to_the_text(before: str, pump: str) -> None:
    assert growth(mask_secrets, pump, before) < MOST


def test_a_card_number_beside_letters_of_other_scripts_is_masked() -> None:
    assert mask_secrets("卡号4111111111111111，谢谢") == "卡号[secret]，谢谢"
