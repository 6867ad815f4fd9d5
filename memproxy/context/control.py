"""Lines about what a person just asked of their memory, put into a block that is written already."""

from __future__ import annotations

from collections.abc import Sequence

from memproxy.context.budget import estimate_tokens
from memproxy.context.sections import one_line
from memproxy.model import BlockItem, ContextBlock
from memproxy.trust import CLOSE, OPEN

CONTROL = "[MEMORY CONTROL]"


def with_control(
    block: ContextBlock | None, lines: Sequence[tuple[str, str | None]], budget_tokens: int
) -> ContextBlock | None:
    """A block with lines (each with the id of the fact it tells of) at its end; as many as the budget has room for.

    The first always goes in: it says what was done.
    """
    if not lines:
        return block
    written, items, used = [CONTROL], [], estimate_tokens(CONTROL)
    for number, (text, fact_id) in enumerate(lines):
        line = f"- {one_line(text)}"
        used += estimate_tokens(line)
        if number and used > budget_tokens:
            break
        written.append(line)
        if fact_id is not None:
            items.append(BlockItem("fact", fact_id, one_line(text), 1.0, CONTROL))
    said = "\n".join(written)
    if block is None or not block.text:
        return ContextBlock(f"{OPEN}\n{said}\n{CLOSE}", used, tuple(items))
    body = block.text.removesuffix(CLOSE)
    return ContextBlock(f"{body}{said}\n{CLOSE}", block.tokens + used, (*block.items, *items))
