"""What `memproxy serve` is told, read without the command line's library."""

import pytest
import typer

from memproxy.commands import serving, tree


def test_what_is_told_plainly_is_read() -> None:
    said = ["serve", "--port", "1", "--host=::1", "--debug", "--llm-base-url", "http://x/v1", "--config", "a b.json"]
    assert serving.plainly_told(said) == {
        "port": 1, "host": "::1", "debug": True, "llm.base_url": "http://x/v1", "config": "a b.json",
    }  # fmt: skip
    assert serving.plainly_told(["serve"]) == {}


@pytest.mark.parametrize(
    "said",
    [
        [],
        ["facts", "list"],
        ["--version"],
        ["serve", "--help"],
        ["serve", "--port"],
        ["serve", "--port", "many"],
        ["serve", "--port", "--host"],
        ["serve", "--prot", "1"],
        ["serve", "somewhere"],
        ["serve", "--debug=yes"],
    ],
)
def test_everything_else_is_left_to_the_command_line_s_library(said: list[str]) -> None:
    assert serving.plainly_told(said) is None


def test_both_know_the_same_options() -> None:
    command = typer.main.get_command(tree.app).commands["serve"]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    assert options == {*serving.OPTIONS, "--debug"}
