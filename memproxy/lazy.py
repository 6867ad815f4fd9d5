"""Modules that are loaded when something of them is first used: a mere relay, or a command, need not pay for them."""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """Stands for a module; what was asked for once is kept."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value
