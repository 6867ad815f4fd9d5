"""Layouts by name: our own, and those that installed packages offer under the entry points `memproxy.formatters`.

An entry point names a function of lines and framing (see `layouts.Layout`) that returns the text of a block.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from memproxy.context.layouts import LAYOUTS, Layout
from memproxy.errors import SettingsError

GROUP = "memproxy.formatters"


def layout_named(name: str) -> Layout:
    """The layout of this name; it is loaded here, once. Raises SettingsError naming those there are."""
    if name in LAYOUTS:
        return LAYOUTS[name]
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name not in offered:
        known = ", ".join(sorted({*LAYOUTS, *offered}))
        raise SettingsError(f"memory.format: {name!r} is none of {known}")
    try:
        found = offered[name].load()
    except Exception as error:  # a package of somebody else's: whatever it raises is a setting that cannot be used
        raise SettingsError(f"memory.format: {name!r} cannot be loaded: {type(error).__name__}") from None
    if not callable(found):
        raise SettingsError(f"memory.format: {name!r} is no function of lines and framing")
    layout: Layout = found
    return layout
