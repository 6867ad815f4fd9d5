"""`memproxy explain`: what a message would get from memory, and why each candidate was shown or not."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy.commands.console import out, print_json, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, JsonOption, on_store


def explain(
    entity: Annotated[str, typer.Argument(help="Whose memory.")],
    question: Annotated[str, typer.Argument(help="The message.")],
    limit: Annotated[int, typer.Option(min=1, help="Candidates to print.")] = 40,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """What a message would get, and what spoke for and against each candidate. Stores nothing."""
    from memproxy.server import views

    weighed = on_store(
        config, db, lambda parts, whose: parts.dry_run(whose, question, explain=True), entity, embed=True
    )
    found = views.dry_run(weighed)
    found["candidates"] = found["candidates"][:limit]
    if json_output:
        print_json(found)
        return
    out.print(found["block"] or f"no block: {found['reason']}", markup=False, highlight=False, soft_wrap=True)
    rows = [
        {
            **{name: row[name] for name in ("verdict", "score", "cosine", "coverage")},
            "because": " ".join(f"{name} {value:+.2f}" for name, value in row["reasons"].items()),
            "kind": row["kind"],
            "text": row["text"] if len(row["text"]) <= 80 else row["text"][:79] + "…",
        }
        for row in found["candidates"]
    ]
    print_rows(rows, False, ("verdict", "score", "cosine", "coverage", "because", "kind", "text"))
