"""The command line: every command on a real database, its output for people and for scripts, its exit codes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memproxy import __version__
from memproxy.assembly.parts import Parts, open_parts
from memproxy.cli import main
from memproxy.model import Entity
from memproxy.settings_sources import load
from memproxy.store import jobs
from memproxy.testing import ScriptedUpstream
from tests.world import World

Run = Callable[..., "Done"]


class Done:
    """What a command did."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command the way its entry point does, in a directory of its own and with the quick embedder."""
    for name in list(os.environ):
        if name.startswith("MEMG_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMG_EMBED_PROVIDER", "hash")
    monkeypatch.setenv("MEMG_DB", str(tmp_path / "memory.db"))

    def command(*args: str) -> Done:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["memproxy", *args])
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        said = capfd.readouterr()
        assert isinstance(code, int)
        return Done(code, said.out, said.err)

    return command


def child(*args: str, folder: Path, **environ: str) -> subprocess.Popen[bytes]:
    """A command in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMG_")}
    return subprocess.Popen(
        [sys.executable, "-m", "memproxy", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**clean, "HOME": str(folder), "MEMG_EMBED_PROVIDER": "hash", "PYTHONPATH": str(Path.cwd()), **environ},
    )


def on_the_store(folder: Path, work: Callable[[Parts], Any]) -> Any:
    async def go() -> Any:
        chosen = load(
            None, {"db": str(folder / "memory.db"), "embed.provider": "off", "llm.borrow": False}, {}
        ).settings
        async with open_parts(chosen) as parts:
            return await work(parts)

    return asyncio.run(go())


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


FACT = set(
    "id text type tag slot significance confidence source_role quote turn_id status valid_from valid_until recorded_at "
    "updated_at superseded_at superseded_by reference_time started_at lifetime expires_at reinforced_count "
    "reinforced_at recall_count recalled_at pinned thread_status emotional_weight emotional_valence engagement "
    "embedding_model".split()
)


# --- facts -------------------------------------------------------------------------------------------------------


def test_a_fact_is_added_listed_searched_shown_edited_forgotten_and_restored(run: Run) -> None:
    added = run("facts", "add", "Owns a green kayak", "--pinned", "--json").json
    assert set(added) == FACT
    assert (added["text"], added["pinned"], added["confidence"]) == ("Owns a green kayak", True, 1.0)
    fact_id = added["id"]

    [listed] = run("facts", "list", "--json").json
    assert listed == added
    best = run("facts", "search", "which kayak", "--json").json[0]
    assert (best["kind"], best["id"], set(best)) == ("fact", fact_id, {"kind", "id", "text", "score", "turn_ids"})

    edited = run("facts", "edit", fact_id, "--text", "Owns a red kayak", "--no-pinned", "--json").json
    assert (edited["id"], edited["text"], edited["pinned"]) == (fact_id, "Owns a red kayak", False)
    [past] = run("facts", "list", "--status", "historical", "--json").json
    assert (past["text"], past["superseded_by"]) == ("Owns a green kayak", fact_id)

    shown = run("facts", "show", fact_id, "--json").json
    behind = {"label", "source", "turn", "repetitions", "supersedes", "superseded_by_fact", "history"}
    assert set(shown) == FACT | behind
    assert [entry["kind"] for entry in shown["history"]] == ["created", "updated", "updated"]
    assert shown["history"][1]["before"]["text"] == "Owns a green kayak"
    people = run("facts", "show", fact_id)
    assert "Owns a red kayak" in people.out
    assert '"Owns a green kayak" until then' in people.out

    assert run("facts", "forget", fact_id, "--json").json == {"forgotten": fact_id}
    assert run("facts", "list", "--json").json == []
    assert run("facts", "list").out.strip() == "nothing there"
    gone = run("facts", "forget", fact_id)
    assert (gone.code, "No such fact" in gone.err) == (1, True)
    [forgotten] = run("facts", "list", "--status", "forgotten", "--json").json
    assert forgotten["id"] == fact_id

    restored = run("facts", "edit", fact_id, "--restore", "--json").json
    assert (restored["id"], restored["status"]) == (fact_id, "current")
    assert [row["id"] for row in run("facts", "list", "--status", "current,forgotten", "--json").json] == [fact_id]


def test_what_a_person_does_to_a_fact_has_a_command_each(run: Run) -> None:
    note = run("facts", "note", "Lives in Tolm", "--slot", "city", "--tag", "home", "--json").json
    assert (note["source_role"], note["slot"], note["tag"]) == ("user_explicit", "location", "home")
    fact_id = note["id"]
    fixed = run("facts", "correct", fact_id, "Lives in Tolmen", "--json").json
    assert (fixed["id"], fixed["text"]) == (fact_id, "Lives in Tolmen")
    assert run("facts", "pin", fact_id, "--json").json["pinned"] is True
    assert run("facts", "unpin", fact_id, "--json").json["pinned"] is False
    sure = run("facts", "confirm", fact_id, "--json").json
    assert (sure["reinforced_count"], sure["confidence"]) == (1, 1.0)
    assert run("facts", "resolve", fact_id).code == 1
    groups = run("facts", "list", "--group", "--json").json["groups"]
    assert [(group["tag"], group["items"][0]["label"]) for group in groups] == [("home", "verified")]
    assert "verified" in run("facts", "list", "--group").out
    people = run("facts", "show", fact_id).out
    assert f"took the place of {run('facts', 'list', '--status', 'historical', '--json').json[0]['id']}" in people
    assert "(corrected)" in people
    assert run("facts", "threads").out.strip() == "nothing there"
    run("facts", "forget", fact_id)
    assert run("facts", "restore", fact_id, "--json").json["status"] == "current"
    assert run("facts", "restore", fact_id).code == 1


def test_a_fact_is_deleted_after_a_question_and_denied_for_good(run: Run, tmp_path: Path) -> None:
    first, second = [run("facts", "add", f"Owns KANARY boat {name}", "--json").json["id"] for name in ("A", "B")]
    assert run("facts", "delete", first, "--yes", "--json").json == {"deleted": {"facts": 1}}
    assert run("facts", "delete", first, "-y").code == 1
    denied = run("facts", "deny", second, "--json").json
    assert denied["deleted"] == {"facts": 1}
    assert run("denied", "add", "Owns KANARY boat C", "--json").json["deleted"] == {"facts": 0}
    assert b"kanary" not in b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*")).lower()
    assert len(run("denied", "list", "--json").json) == 2
    assert denied["id"] in run("denied", "list").out
    assert run("denied", "allow", denied["id"], "--json").json == {"allowed": denied["id"]}
    gone = run("denied", "allow", denied["id"])
    assert (gone.code, "Nothing was denied" in gone.err) == (1, True)


def test_preferences_are_shown_and_set(run: Run) -> None:
    wanted = {"excluded_tags": [], "learning": True, "memory": True, "patterns": True}
    assert run("preferences", "show", "--json").json == wanted
    changed = run("preferences", "set", "--exclude", "medical", "--exclude", "work", "--no-learning", "--json").json
    assert changed == {**wanted, "excluded_tags": ["medical", "work"], "learning": False}
    assert "medical, work" in run("preferences", "show").out
    assert run("preferences", "set", "--exclude", "", "--learning", "--json").json == wanted
    run("preferences", "set", "--no-memory")
    refused = run("facts", "add", "Owns a kayak")
    assert (refused.code, "switched off" in refused.err) == (1, True)
    assert run("facts", "add", "Owns a kayak", "-e", "ada").code == 0


def test_what_was_believed_once_can_be_listed(run: Run) -> None:
    run("facts", "add", "Owns a kayak")
    assert run("facts", "list", "--as-of-txn", "2020-01-01", "--json").json == []
    assert [row["text"] for row in run("facts", "list", "--as-of-valid", "2999-01-01", "--json").json] == [
        "Owns a kayak"
    ]


def test_what_is_printed_for_people_is_word_for_word(run: Run) -> None:
    odd = "Likes [red]markup[/red], :dog: and [/] – 名前 \\[x]"
    assert odd in run("facts", "add", odd).out
    assert odd in run("facts", "list").out
    assert odd in run("facts", "search", "markup").out


def test_each_person_has_a_memory_of_their_own(run: Run) -> None:
    fact_id = run("facts", "add", "Owns a kayak", "--entity", "ada", "--json").json["id"]
    assert run("facts", "list", "-e", "bea", "--json").json == []
    on_one = [(name, fact_id) for name in "show forget restore confirm pin unpin resolve deny".split()]
    for command in (*on_one, ("edit", fact_id, "--text", "x"), ("correct", fact_id, "x"), ("delete", fact_id, "-y")):
        assert run("facts", *command, "-e", "bea").code == 1
    assert len(run("facts", "list", "-e", "ada", "--json").json) == 1


def test_restoring_beside_the_same_statement_fails_and_says_which(run: Run) -> None:
    old = run("facts", "add", "Owns a kayak", "--json").json["id"]
    run("facts", "forget", old)
    new = run("facts", "add", "Owns a kayak", "--json").json["id"]
    done = run("facts", "edit", old, "--restore")
    assert (done.code, new in done.err) == (1, True)


@pytest.mark.parametrize(
    ("args", "code", "part"),
    [
        (["facts", "add", "  "], 1, "needs words"),
        (["facts", "add", "x" * 10_001], 1, "10000"),
        (["facts", "show", "nope"], 1, "memproxy facts list --entity default"),
        (["facts", "edit", "nope", "--text", "x"], 1, "No such fact"),
        (["facts", "edit", "nope"], 2, "--text, --pinned or --restore"),
        (["facts", "list", "--status", "bogus"], 2, "current, historical, expired, quarantined, forgotten"),
        (["facts", "list", "--limit", "0"], 2, "--limit"),
        (["facts", "list", "--as-of-txn", "soon"], 2, "2026-11-30"),
        (["facts", "confirm", "nope"], 1, "No such fact"),
        (["facts", "deny", "nope"], 1, "No such fact"),
        (["facts", "delete", "nope", "-y"], 1, "No such fact"),
        (["facts", "note", "…"], 1, "needs words"),
        (["preferences", "set"], 1, "Nothing to change"),
        (["facts", "list", "--entity", ""], 2, "1 to 255"),
        (["facts", "list", "--entity", "a\nb"], 2, "control character"),
        (["facts", "list", "--config", "nowhere.json"], 2, "nowhere.json"),
        (["facts", "list", "--db", "/proc/nowhere/memory.db"], 1, "/proc/nowhere/memory.db"),
        (["jobs", "list", "--state", "bogus"], 2, "pending, waiting, running, done, dead"),
        (["jobs", "retry", "nope"], 1, "memproxy jobs list --state dead"),
        (["bench", "replay", "nowhere.json"], 2, "nowhere.json"),
        (["facts", "list", "extra"], 2, "extra"),
        (["nonsense"], 2, "nonsense"),
        (["serve", "--port", "99999"], 2, "--port"),
        (["serve", "--host", "0.0.0.0"], 2, "keys"),
        (["serve", "--llm-provider", "nobody"], 2, "--llm-provider"),
        (["serve", "--target", "ftp://x"], 2, "--target"),
    ],
)
def test_a_mistake_exits_with_its_code_and_names_the_way_out(run: Run, args: list[str], code: int, part: str) -> None:
    done = run(*args)
    assert (done.code, done.out) == (code, "")
    assert part in " ".join(done.err.replace("│", " ").split())
    assert "Traceback" not in done.err


def test_a_message_that_quotes_brackets_is_printed_as_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "[/red]").mkdir(parents=True)
    (tmp_path / "[/red]" / "memg.json").write_text('{"keys": [{"key_env": "A"}]}')
    done = run("facts", "list", "--config", "[/red]/memg.json")
    assert done.code == 2
    assert 'keys[0] (from [/red]/memg.json): name its entities, for example ["alice", "team-*"]' in done.err


def test_an_unknown_variable_warns_and_the_command_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMG_PROT", "1")
    done = run("facts", "list", "--json")
    assert done.json == []
    assert "did you mean MEMG_PORT?" in done.err


def test_a_missing_extraction_key_is_no_hindrance_to_looking(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMG_LLM_API_KEY", "env:NO_SUCH_KEY")
    assert run("facts", "add", "Owns a kayak").code == 0
    assert run("facts", "list").code == 0
    assert run("serve").code == 2


# --- the rest of the store ---------------------------------------------------------------------------------------


def test_turns_are_listed_in_order_and_by_conversation(run: Run, tmp_path: Path) -> None:
    from datetime import UTC, datetime

    from memproxy.lifecycle.past import PastTurn

    async def talk(parts: Parts) -> None:
        for session in ("one", "two"):
            past = [PastTurn("user", f"I own a kayak, {session}", datetime(2021, 5, 6, tzinfo=UTC))]
            await parts.curator.import_turns(Entity("default"), session, past, False)

    on_the_store(tmp_path, talk)
    rows = run("turns", "list", "--json").json
    assert [row["content"] for row in rows] == ["I own a kayak, one", "I own a kayak, two"]
    assert {"id", "session_id", "seq", "role", "name", "content", "time"} <= set(rows[0])
    assert run("turns", "list", "--session", rows[1]["session_id"], "--json").json == rows[1:]
    assert "I own a kayak, one" in run("turns", "list").out
    assert len(run("turns", "list", "--limit", "1", "--json").json) == 1


def test_entities_are_listed_and_erased_after_a_question(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "bea"):
        run("facts", "add", f"Owns the kayak KANARY-{name}", "-e", name)
    rows = run("entities", "--json").json
    assert [(row["entity"], row["facts"]) for row in rows] == [("ada", 1), ("bea", 1)]
    assert "ada" in run("entities").out
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        refused = run("erase", "ada")
    assert refused.code == 1
    assert len(run("facts", "list", "-e", "ada", "--json").json) == 1
    deleted = run("erase", "ada", "--yes", "--json").json["deleted"]
    assert deleted["facts"] == 1
    assert run("facts", "list", "-e", "ada", "--json").json == []
    assert len(run("facts", "list", "-e", "bea", "--json").json) == 1
    assert b"KANARY-ada" not in b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
    assert "there was nothing" in run("erase", "ada", "-y").out


def test_a_question_answered_with_yes_erases(tmp_path: Path) -> None:
    process = child("erase", "ada", folder=tmp_path)
    process.stdin = None
    out, _ = process.communicate()
    assert process.returncode == 1
    again = subprocess.run(
        [sys.executable, "-m", "memproxy", "erase", "ada"],
        input=b"y\n",
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path.cwd())},
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert b"for good?" in again.stdout
    assert b"for good?" in out


def test_a_dead_job_is_seen_and_brought_back(run: Run, tmp_path: Path) -> None:
    async def bury(parts: Parts) -> str:
        now = parts.clock.now()

        async def work(conn: Any) -> str:
            from memproxy.store import entities, sessions

            await entities.ensure(conn, Entity("ada"), now)
            session = await sessions.open_session(conn, Entity("ada"), None, now)
            await jobs.enqueue(conn, Entity("ada"), "extract", session.id, now, None, now)
            job = await jobs.claim(conn, "test", now, 60, set())
            assert job is not None
            await jobs.bury(conn, job, "status-401")
            return job.id

        return await parts.db.write(work)

    job_id = on_the_store(tmp_path, bury)
    [row] = run("jobs", "list", "--state", "dead", "--json").json
    assert (row["id"], row["entity"], row["state"], row["error"]) == (job_id, "ada", "dead", "status-401")
    assert "credential" not in row
    assert job_id in run("jobs", "list").out
    assert run("jobs", "retry", job_id, "--json").json == {"retried": job_id}
    assert run("jobs", "list", "--state", "dead", "--json").json == []
    assert run("jobs", "retry", job_id).code == 1


def test_migrate_makes_a_database_ready_and_says_what_it_is(run: Run, tmp_path: Path) -> None:
    told = run("migrate", "--db", str(tmp_path / "new" / "memory.db"), "--json").json
    assert told["database"] == str(tmp_path / "new" / "memory.db")
    assert (tmp_path / "new" / "memory.db").stat().st_mode & 0o077 == 0
    assert "up to date" in run("migrate").out


def test_a_file_that_is_no_database_is_an_error_and_stays_as_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"not a database at all" * 100)
    for command in (["facts", "list"], ["migrate"], ["entities"]):
        done = run(*command)
        assert done.code == 1
        assert "memory.db" in done.err
        assert "Traceback" not in done.err
    assert (tmp_path / "memory.db").read_bytes() == b"not a database at all" * 100


# --- output and processes ----------------------------------------------------------------------------------------


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"memproxy {__version__}\n"
    assert all(
        name in run("--help").out for name in ("serve", "demo", "doctor", "facts", "turns", "entities", "erase", "jobs")
    )


@pytest.mark.parametrize(
    "command",
    ["serve", "demo", "doctor", "migrate", "entities", "erase", "facts", "facts list", "facts search", "facts add",
     "facts show", "facts edit", "facts forget", "turns list", "jobs list", "jobs retry", "bench replay"],
)  # fmt: skip
def test_every_command_explains_itself(run: Run, command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.code == 0
    assert "Usage:" in done.out
    assert len(done.out) > 100


def test_a_reader_that_has_had_enough_is_no_error_message(tmp_path: Path) -> None:
    async def fill(parts: Parts) -> None:
        from memproxy.model import FactDraft

        for i in range(100):
            await parts.curator.add(Entity("default"), FactDraft(f"Owns boat number {i} {'x' * 2000}"))

    on_the_store(tmp_path, fill)
    for extra in (["--json"], []):
        process = child("facts", "list", "--limit", "300", "--db", "memory.db", *extra, folder=tmp_path)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait() == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_is_full_is_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "memproxy", "entities", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path.cwd())},
            check=False,
        )
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_letters_that_a_terminal_cannot_show_are_no_failure(tmp_path: Path) -> None:
    process = child("facts", "add", "Likes 名前 🎸", "--db", "memory.db", folder=tmp_path, PYTHONIOENCODING="ascii")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"Likes ??" in out
    process = child("facts", "list", "--json", "--db", "memory.db", folder=tmp_path, PYTHONIOENCODING="ascii")
    out, _ = process.communicate()
    assert json.loads(out)[0]["text"] == "Likes 名前 🎸"


def test_importing_and_asking_for_help_load_neither_model_nor_database() -> None:
    code = (
        "import sys, memproxy, memproxy.commands.tree\n"
        "print([name for name in ('onnxruntime', 'numpy', 'aiosqlite', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


# --- demo --------------------------------------------------------------------------------------------------------


def test_the_demo_holds_and_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMG_EMBED_PROVIDER")  # the real one, with no key and no network
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("OPENAI_API_KEY", "never used")
    claims = run("demo", "--json").json
    assert len(claims) >= 6
    assert all(claim["holds"] for claim in claims), claims
    done = run("demo")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("✓") == len(claims)
    assert "✗" not in done.out
    assert "hazelnuts" in done.out
    assert max(map(len, done.out.splitlines())) <= 200  # into a pipe, as here, no line is longer than a page is wide


# --- doctor ------------------------------------------------------------------------------------------------------


def checks(done: Done) -> dict[str, dict[str, str]]:
    return {finding["check"]: finding for finding in json.loads(done.out)}


def test_doctor_finds_everything_in_order(run: Run, tmp_path: Path) -> None:
    async def go() -> Done:
        async with ScriptedUpstream() as up, ScriptedUpstream(lambda request: '{"facts": []}') as ext:
            os.environ["MEMG_LLM_BASE_URL"], os.environ["MEMG_LLM_API_KEY"] = f"{ext.url}/v1", "secret-key"
            try:
                return await asyncio.to_thread(run, "doctor", "--target", up.url, "--json")
            finally:
                del os.environ["MEMG_LLM_BASE_URL"], os.environ["MEMG_LLM_API_KEY"]

    done = asyncio.run(go())
    found = checks(done)
    assert done.code == 0
    assert {"settings", "database", "vector search", "disk", "embedder", "upstream", "extraction model"} <= set(found)
    assert all(set(finding) == {"check", "state", "detail", "fix"} for finding in found.values())
    assert all(
        found[name]["state"] == "ok" for name in ("settings", "database", "embedder", "upstream", "extraction model")
    )
    assert "secret-key" not in done.out


def test_doctor_names_each_failure_and_its_fix(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMG_EMBED_PROVIDER", "local")
    monkeypatch.setenv("MEMG_EMBED_DIR", str(tmp_path / "no-model"))
    monkeypatch.setenv("MEMG_LLM_API_KEY", "env:NO_SUCH_KEY")
    monkeypatch.setenv("MEMG_PROT", "1")
    (tmp_path / "memory.db").write_bytes(b"not a database at all" * 100)
    target = f"http://127.0.0.1:{closed_port()}"
    done = run("doctor", "--target", target, "--json")
    assert done.code == 1
    found = [(finding["check"], finding["state"]) for finding in json.loads(done.out)]
    for name in ("database", "embedder", "upstream", "extraction model"):
        assert (name, "failure") in found
    assert ("settings", "warning") in found
    by_name = checks(done)
    assert all(by_name[name]["fix"] for name in ("database", "embedder", "upstream", "extraction model"))
    assert "no-model" in by_name["embedder"]["detail"]
    assert target in by_name["upstream"]["detail"]
    assert "NO_SUCH_KEY" in by_name["extraction model"]["detail"]
    people = run("doctor", "--target", target)
    assert people.code == 1
    assert "FAILURE" in people.out
    assert "→" in people.out
    assert "Traceback" not in people.out + people.err


def test_doctor_tells_an_extraction_model_that_refuses_the_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> Done:
        async with ScriptedUpstream() as up:
            up.reply("models")
            up.reply_raw(401, [("content-type", "application/json")], [b'{"error": {"message": "bad key secret-key"}}'])
            monkeypatch.setenv("MEMG_LLM_BASE_URL", f"{up.url}/v1")
            monkeypatch.setenv("MEMG_LLM_API_KEY", "secret-key")
            return await asyncio.to_thread(run, "doctor", "--target", up.url, "--json")

    done = asyncio.run(go())
    finding = checks(done)["extraction model"]
    assert (done.code, finding["state"]) == (1, "failure")
    assert "status-401" in finding["detail"]
    assert "secret-key" not in done.out


def test_doctor_warns_of_what_is_switched_off_and_still_exits_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMG_EMBED_PROVIDER", "off")
    monkeypatch.setenv("MEMG_LLM_BORROW", "false")

    async def go() -> Done:
        async with ScriptedUpstream() as up:
            return await asyncio.to_thread(run, "doctor", "--target", up.url, "--json")

    done = asyncio.run(go())
    found = checks(done)
    assert done.code == 0
    assert (found["embedder"]["state"], found["extraction model"]["state"]) == ("warning", "warning")


def test_doctor_sees_whether_an_apps_traffic_passes_through(run: Run, tmp_path: Path) -> None:
    async def go() -> tuple[Done, Done, Done, int]:
        async with World.open(tmp_path / "world") as world:
            through = [
                await asyncio.to_thread(run, "doctor", "--target", world.up.url, "--through", url, "--json")
                for url in (f"{world.url}/v1", world.up.url, f"http://127.0.0.1:{closed_port()}")
            ]
            return through[0], through[1], through[2], len(await world.turns("default"))

    (tmp_path / "world").mkdir()
    ours, direct, nobody, stored = asyncio.run(go())
    assert (ours.code, checks(ours)["traffic"]["state"]) == (0, "ok")
    assert (direct.code, checks(direct)["traffic"]["state"]) == (1, "failure")
    assert "not through memproxy" in checks(direct)["traffic"]["detail"]
    assert (nobody.code, checks(nobody)["traffic"]["state"]) == (1, "failure")
    assert "memproxy serve" in checks(nobody)["traffic"]["fix"]
    assert stored == 0


@pytest.mark.parametrize("url", ["127.0.0.1:9", "http://[", "not a url", "ftp://x"])
def test_doctor_survives_an_address_that_is_none(run: Run, url: str) -> None:
    done = run("doctor", "--target", f"http://127.0.0.1:{closed_port()}", "--through", url, "--json")
    assert done.code == 1
    assert checks(done)["traffic"]["state"] == "failure"


# --- a past brought along --------------------------------------------------------------------------------------------

PAST = [{"id": "c", "messages": [{"role": "user", "content": "I keep hens", "time": "2024-03-01T10:00:00Z"}]}, 7]


def test_import_says_what_came_of_a_file_and_what_could_not_be_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "past.json").write_text(json.dumps(PAST))
    dry = run("import", "past.json", "--entity", "Bo", "--dry-run", "--json").json
    assert (dry["turns"], dry["from"]) == (1, "2024-03-01")
    assert "new turns" not in dry
    assert run("turns", "list", "--entity", "Bo", "--json").json == []
    first = run("import", "past.json", "--entity", "Bo")
    assert first.code == 0
    assert "past.json[1]" in first.err
    again = run("import", "past.json", "--entity", "Bo", "--json").json
    assert (again["turns"], again["new turns"]) == (1, 0)
    assert [row["content"] for row in run("turns", "list", "--entity", "Bo", "--json").json] == ["I keep hens"]
    [hit] = run("facts", "search", "hens", "--entity", "Bo", "--json").json
    assert hit["kind"] == "turn"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["gone.json"], 2, "gone.json"),
        (["odd.json"], 1, "of no known format"),
        (["odd.json", "--format", "whatsapp"], 2, "chatgpt, claude"),
        (["odd.json", "--date", "yesterday"], 2, "--date"),
    ],
)
def test_an_import_that_cannot_be_says_why(
    run: Run, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    (tmp_path / "odd.json").write_text("{}")
    done = run("import", *arguments)
    assert done.code == code
    assert said in done.err


def test_a_memory_is_taken_away_and_brought_back_by_commands(run: Run, tmp_path: Path) -> None:
    run("facts", "add", "Keeps hens in Brask", "-e", "bo")
    assert run("export", "bo", "--out", "bo.jsonl").code == 0
    file = tmp_path / "bo.jsonl"
    assert file.stat().st_mode & 0o077 == 0
    assert run("export", "bo", "--format", "markdown").out.startswith("# What is remembered of bo")
    assert run("export", "nobody").code == 1
    assert run("export", "bo", "--format", "cards").code == 2
    dry = run("import", "bo.jsonl", "-e", "bo", "--db", "other.db", "--dry-run", "--json").json
    assert (dry["read as"], dry["statements"]) == ("memory", 1)
    done = run("import", "bo.jsonl", "-e", "bo", "--db", "other.db", "--json").json
    assert (done["new facts"], done["broken"]) == (1, [])
    run("export", "bo", "--db", "other.db", "--out", "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes().splitlines()[1:] == file.read_bytes().splitlines()[1:]


def test_an_import_that_was_killed_and_is_started_again_ends_with_the_same_store(run: Run, tmp_path: Path) -> None:
    said = [
        {
            "role": "user",
            "content": f"I own boat number {n} in Brask",
            "time": f"2024-01-01T{n // 60:02d}:{n % 60:02d}:00Z",
        }
        for n in range(700)
    ]
    (tmp_path / "past.jsonl").write_text("\n".join(json.dumps(line) for line in said))
    db = tmp_path / "killed.db"
    here = str(Path(__file__).parents[2])
    process = child("import", "past.jsonl", folder=tmp_path, MEMG_DB=str(db), PYTHONPATH=here)
    while process.poll() is None and _turns(db) == 0:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert _turns(db) < 700
    again = run("import", "past.jsonl", "--db", str(db), "--json").json
    assert again["new turns"] == 700 - _known(again)
    run("import", "past.jsonl")
    for file in (db, tmp_path / "memory.db"):
        run("export", "default", "--db", str(file), "--out", f"{file.stem}.jsonl")
    rows = [
        [
            (row["seq"], row["time"], row["content"])
            for line in (tmp_path / name).read_text().splitlines()
            if (row := json.loads(line)).get("row") == "turn"
        ]
        for name in ("killed.jsonl", "memory.jsonl")
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 700
    assert _count(db, "passages WHERE model IS NULL") == 0
    assert _count(db, "passages") == _count(tmp_path / "memory.db", "passages")


def _turns(db: Path) -> int:
    try:
        return _count(db, "turns")
    except sqlite3.Error:
        return 0  # not there yet


def _count(db: Path, table: str) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _known(report: Any) -> int:
    return int(report["turns"]) - int(report["new turns"])
