"""Servers in processes of their own, and what the system says of them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.abc

from memproxy.errors import MemproxyError


@dataclass(frozen=True, slots=True)
class Child:
    """A server that runs."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """Processor time its threads have used so far; 0 where the system does not tell (Linux does).

        To the nanosecond: what a process says of itself goes in steps of 10 ms, as much as a slice of load may take.
        """
        used = 0
        for thread in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):  # it has just ended
                used += int(thread.read_text().split()[0])
        return used / 1e9

    def rss_mb(self) -> float:
        """Memory it holds now, in MB (10^6 bytes); 0 where the system does not tell."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024 / 1e6
        return 0.0


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def running(
    command: Sequence[str], port: int, *, seconds: float = 60, quiet: bool = False
) -> AsyncIterator[Child]:
    """Start a server and wait until it listens; stopped at the end. Raises MemproxyError where it does not start."""
    told = subprocess.DEVNULL if quiet else None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMG_")}
    async with await anyio.open_process(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told, env=environment
    ) as process:
        try:
            await _listening(port, process, seconds)
            yield Child(port, process.pid)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
            with anyio.move_on_after(30):
                await process.wait()
            if process.returncode is None:
                process.kill()


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this installation."""
    return [sys.executable, "-m", module, *arguments]


async def _listening(port: int, process: anyio.abc.Process, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.returncode is not None:
            raise MemproxyError(f"a server ended at once with exit code {process.returncode}")
        with contextlib.suppress(OSError):
            await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            return
        await anyio.sleep(0.05)
    raise MemproxyError("a server did not start in time")
