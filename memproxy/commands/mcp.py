"""`memproxy mcp`: a memory as tools, for a program that starts its tools itself."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, on_store
from memproxy.errors import SettingsError

if TYPE_CHECKING:
    from memproxy.assembly.parts import Parts
    from memproxy.model import Entity


def mcp(entity: EntityOption, config: ConfigOption = None, db: DbOption = None) -> None:
    """Serve the tools of one memory over standard input and output (MCP), until the input ends."""
    if importlib.util.find_spec("mcp") is None:
        raise SettingsError("the MCP SDK is not installed: pip install 'memproxy[mcp]'")

    async def work(parts: Parts, who: Entity) -> None:
        from memproxy.server.agents.sdk import serve_stdio

        await serve_stdio(parts, who)

    on_store(config, db, work, entity, embed=True)
