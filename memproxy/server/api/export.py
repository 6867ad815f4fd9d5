"""A memory as a file: taken away, brought back, or brought in from elsewhere."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import IO
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from memproxy.archive.exporting import Form
from memproxy.errors import Problem, SettingsError
from memproxy.importing.bringing import Wish
from memproxy.importing.door import bring_file
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import Choice, Flag, Moment, Text

MAX_FILE = 256 * 1024 * 1024
MAX_UNPACKED = 1024 * 1024 * 1024
FORM = Choice("format", "As lines that can be imported again (the default), or as a page for reading.", Form)
WISH = (
    DRY := Flag("dry_run", "Only say what is in it."),
    LEARN := Flag("learn", "`false` keeps turns from being learned from."),
    DATE := Moment("date", "When what has no date was said."),
    KNOWN := Text("format", "What the file is, where it cannot be told from it.", 100),
)
_MEDIA = {"jsonl": "application/x-ndjson", "markdown": "text/markdown; charset=utf-8"}
_SUFFIX = {"jsonl": "jsonl", "markdown": "md"}


async def export(call: Call) -> Response:
    """Everything that is remembered of an entity, streamed."""
    entity = call.entity
    form: Form = call.get(FORM) or "jsonl"
    pieces = await call.parts.export(entity, form)
    name = quote(f"{entity.name}.{_SUFFIX[form]}", safe="")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}", "cache-control": "no-store"}
    return StreamingResponse(pieces, media_type=_MEDIA[form], headers=headers)


async def import_file(call: Call) -> Response:
    """Bring in a file of any known format; with `dry_run` only say what is in it."""
    entity, dry = call.entity, bool(call.get(DRY))
    learn = call.get(LEARN)
    wish = Wish(learn=learn is not False, default_time=call.get(DATE), dry=dry)
    form = call.get(KNOWN) or None
    with tempfile.TemporaryDirectory(prefix="memproxy-import-") as folder:
        file = Path(folder) / "upload"
        with file.open("wb") as out:
            await _receive(call, out)
        try:
            async with call.parts.importing:
                report = await bring_file(call.parts, entity, file, wish, form, largest=MAX_UNPACKED)
        except SettingsError as error:
            raise Problem(
                400, "That file cannot be read", str(error).replace("--format", "format").replace(f"{file}: ", "")
            ) from None
    return answer(views.imported(report, dry))


async def _receive(call: Call, out: IO[bytes]) -> None:
    size = 0
    async for chunk in call.request.stream():
        size += len(chunk)
        if size > MAX_FILE:
            raise Problem(413, "The file is too large", f"At most {MAX_FILE} bytes; the command line takes any size.")
        await asyncio.to_thread(out.write, chunk)
    if not size:
        raise Problem(400, "There is no file", "Send it as the body, as it is.")
