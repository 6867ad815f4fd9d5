"""`memproxy jobs`: background work."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy.commands.console import out, print_json, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, JsonOption, choices, on_store
from memproxy.errors import Problem

jobs = typer.Typer(no_args_is_help=True, help="Background work.")


@jobs.command("list")
def jobs_list(
    state: Annotated[str | None, typer.Option(help="pending, running, dead …")] = None,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Background jobs, newest first."""
    from memproxy.model import JobState
    from memproxy.server import views
    from memproxy.store import jobs as rows

    states = choices("--state", state, JobState) if state else []
    found = on_store(
        config, db, lambda parts, e: parts.db.read(lambda c: rows.list_jobs(c, states=states, limit=1000)), "default"
    )
    print_rows(
        [views.job(row) for row in found],
        json_output,
        ("id", "entity", "kind", "state", "attempts", "error", "run_after"),
    )


@jobs.command("retry")
def jobs_retry(job_id: str, config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False) -> None:
    """Bring a dead job back."""
    from memproxy.lifecycle.dead_letters import bring_back

    done = on_store(
        config, db, lambda parts, e: parts.db.write(lambda c: bring_back(c, job_id, parts.clock.now())), "default"
    )
    if not done:
        raise Problem(404, "No such dead job", "See: memproxy jobs list --state dead")
    print_json({"retried": job_id}) if json_output else out.print(f"due again: {job_id}", highlight=False)
