"""Settings as a command is given them, and what is odd about them told. Loads no command line's library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memproxy import settings_sources
from memproxy.settings_sources import Loaded


def load(config: str | None, flags: Mapping[str, Any]) -> Loaded:
    """The settings of a file, where one is named, under those that `flags` gives by name. Raises SettingsError."""
    loaded = settings_sources.load(config, flags)
    for warning in loaded.warnings:
        from memproxy.commands.console import tell

        tell("warning", warning)
    return loaded
