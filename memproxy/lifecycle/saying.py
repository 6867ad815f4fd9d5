"""What was found, said in the form and the shares that the settings ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime

from memproxy.context.formatters import layout_named
from memproxy.context.layouts import Layout, by_sections
from memproxy.context.placement import InPlace
from memproxy.context.render import Beside, LayoutFailed, When, render, render_recalled, render_stable
from memproxy.context.shape import shape_of
from memproxy.events import Metrics, Skip
from memproxy.model import ContextBlock, Fact
from memproxy.recall.recall import Found
from memproxy.settings import Settings

log = logging.getLogger(__name__)


class Sayer:
    """Writes blocks."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Raises SettingsError for a format that nobody offers."""
        self._shape = shape_of(settings)
        self._layout = layout_named(settings.memory.format)
        self._metrics = metrics

    def stable(self, facts: Sequence[Fact], beside: Beside, budget: int, timezone: str, now: datetime) -> ContextBlock:
        """The part that does not depend on what was asked."""
        when = When(now=now)
        return self._laid_out(
            lambda layout: render_stable(
                facts,
                budget_tokens=budget,
                timezone=timezone,
                when=when,
                beside=beside,
                shape=self._shape,
                layout=layout,
            )
        )

    def whole(
        self, found: Found, beside: Beside, budget: int, timezone: str
    ) -> tuple[ContextBlock | None, Skip | None]:
        """One block with all there is to say, or why there is none."""
        skip = _nothing_to_say(found, beside, [fact for fact in found.standing if fact.pinned])
        if skip is not None:
            return None, skip
        small = found.query.small_talk
        block = self._laid_out(
            lambda layout: render(
                found.scored,
                found.standing,
                budget_tokens=budget,
                timezone=timezone,
                phrases=found.notes,
                when=_when(found),
                beside=replace(beside, threads=(), feelings=()) if small else beside,
                shape=self._shape,
                layout=layout,
            )
        )
        return (block, None) if block.items else (None, Skip.NO_ROOM)

    def recalled(
        self, found: Found, standing: InPlace, beside: Beside, budget: int, timezone: str
    ) -> tuple[ContextBlock | None, Skip | None]:
        """The part that answers one message, without what `standing` says already, or why there is none."""
        skip = _nothing_to_say(found, beside, ())
        if skip is not None:
            return None, skip
        block = self._laid_out(
            lambda layout: render_recalled(
                found.scored,
                standing.items,
                budget_tokens=budget,
                timezone=timezone,
                phrases=found.notes,
                when=_when(found),
                beside=beside,
                shape=self._shape,
                layout=layout,
            )
        )
        return (block, None) if block.items else (None, Skip.NO_ROOM)

    def _laid_out(self, write: Callable[[Layout], ContextBlock]) -> ContextBlock:
        """A block in the layout that is wanted; in the standard one where that fails."""
        try:
            return write(self._layout)
        except LayoutFailed as failure:
            log.warning("the formatter failed: %s", failure)
            self._metrics.formatter_failures.inc()
            return write(by_sections)


def _nothing_to_say(found: Found, beside: Beside, pinned: Collection[Fact]) -> Skip | None:
    """Why there is nothing to say, where that is so. To a greeting only what is worth taking up is said."""
    if beside.suggestions or beside.session or beside.left_off:
        return None
    if found.query.small_talk:
        return Skip.SMALL_TALK
    return None if found.scored or pinned else Skip.NOTHING_RELEVANT


def _when(found: Found) -> When:
    return When(found.facts, found.now, found.query.timeline)
