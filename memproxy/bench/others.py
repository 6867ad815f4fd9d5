"""Gateways that people run instead, as rows of `memproxy bench relay`, where they are installed.

The commands that install them are in docs/bench.md.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memproxy.errors import SettingsError

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Other:
    """How one is started (in a folder for its files, on a port, before an upstream) and what requests to it carry."""

    command: Callable[[Path, int, str], list[str]]
    headers: Callable[[str], Headers]


def _litellm(folder: Path, port: int, upstream: str) -> list[str]:
    model = {"model": "openai/bench", "api_base": f"{upstream}/v1", "api_key": "bench"}
    config = folder / "litellm.json"  # YAML reads JSON
    settings = {
        "model_list": [{"model_name": "bench", "litellm_params": model}],
        # Without a key, as memproxy is on this machine; since 2026 that has to be asked for.
        "general_settings": {"dangerously_permit_weak_or_unset_master_key": True},
    }
    config.write_text(json.dumps(settings))
    program = _installed("litellm", "MEMPROXY_BENCH_LITELLM")
    return [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]


def _portkey(folder: Path, port: int, upstream: str) -> list[str]:
    return ["node", _installed("portkey", "MEMPROXY_BENCH_PORTKEY"), f"--port={port}", "--headless"]


def _installed(name: str, variable: str) -> str:
    """The program: where the variable says, else on the PATH. Raises SettingsError."""
    found = os.environ.get(variable) or shutil.which(name)
    if found is None:
        raise SettingsError(f"{name} is not installed; docs/bench.md says how, and {variable} where it stands")
    return found


OTHERS = {
    "litellm": Other(_litellm, lambda upstream: ()),
    "portkey": Other(
        _portkey,
        lambda upstream: (("x-portkey-provider", "openai"), ("x-portkey-custom-host", f"{upstream}/v1")),
    ),
}
