"""With no key in the environment and only this machine in the settings, no other host is spoken to, or looked up.

In a process of its own, since what has been recorded there cannot be switched off again; without uvloop, whose sockets
no recorder of Python's sees.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CHILD = """
    import sys

    asked, spoken = [], []

    def record(event, details):
        if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            asked.append(details[0])
        elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            spoken.append(details[1])

    sys.addaudithook(record)

    import asyncio, json
    from pathlib import Path

    from memproxy.store import reembedding
    from memproxy.testing import ScriptedUpstream
    from tests.contracts.chat_vendors import json_answer
    from tests.contracts.embedding_vendors import OPENAI, numbers
    from tests.world import World, facts, user

    def serve(request):
        return json_answer(OPENAI.answer([numbers(text) for text in request.json()["input"]]))

    async def main(folder):
        own = {"llm__provider": "custom", "llm__api_key": None, "embed__provider": "local", "facts__gate": "auto"}
        async with ScriptedUpstream(serve) as vectors, World.open(folder, **own) as world:
            world.ext.default = lambda request: facts({"text": "Owns a kayak", "quote": "I own a kayak"})
            history = []
            await world.say("ilse", history, "I own a kayak called Petrel")
            await world.say("ilse", history, "It is in the shed, and it leaks a little")
            await world.drain()
            learned = await world.mem("ilse")
            block = await world.ask("ilse", "What is my kayak called?")
            where = {"embed.provider": "custom", "embed.model": "m", "embed.base_url": f"{vectors.url}/v1"}
            world.flags.update(where)
            await world.restart()
            async with asyncio.timeout(30):
                while set(await world.app.parts.db.read(reembedding.models)) != {"custom/m@48"}:
                    await asyncio.sleep(0.02)
            again = await world.ask("ilse", "What is my kayak called?")
        print(json.dumps({"learned": learned, "blocks": [block, again], "asked": asked, "spoken": spoken}))

    asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.filterwarnings("ignore")
def test_o4_no_other_host_is_seen_from_start_to_end(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT", "TMPDIR")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**kept, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert "Owns a kayak" in str(seen["learned"])
    assert all("Petrel" in block for block in seen["blocks"])
    assert len(seen["spoken"]) > 4  # the app, the upstream, extraction and vectors: the recorder works
    assert {address[0] for address in seen["spoken"]} == {"127.0.0.1"}
    assert set(seen["asked"]) <= {"127.0.0.1", "localhost", None}
