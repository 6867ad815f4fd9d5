"""Providers that other packages bring along, by entry points: a name in a group stands for what the package offers.

[project.entry-points."memproxy.embedders"]
words = "my_package:Words"
"""

from __future__ import annotations

from typing import Any, Literal

from memproxy.errors import SettingsError

Group = Literal["memproxy.embedders", "memproxy.llms", "memproxy.rerankers"]


def names(group: Group) -> list[str]:
    """What the installed packages offer."""
    from importlib.metadata import entry_points  # takes 20 ms to load, and hardly anybody needs it

    return sorted({entry.name for entry in entry_points(group=group)})


def load(group: Group, name: str) -> Any:
    """What stands behind a name; None where nothing does. Raises SettingsError where it cannot be loaded."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=group, name=name):
        try:
            return entry.load()
        except Exception as error:  # another package's code, which may raise anything
            raise SettingsError(f"{group} {name}: {entry.value} cannot be loaded: {error}") from error
    return None
