"""The formats as their vendors serve them: the columns of the table in docs/wire.md."""

from __future__ import annotations

from tests.conformance.vendors import chat_completions, messages

VENDORS = (chat_completions.VENDOR, messages.VENDOR)
