"""The head of an answer and what follows it at once leave in one piece."""

import asyncio

from memproxy.server.http_protocol import Joining


class Written(asyncio.Transport):
    """Keeps each write apart."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:  # type: ignore[override]
        self.pieces.append(data)

    def is_closing(self) -> bool:
        return False


def test_one_write_that_is_held_leaves_with_the_next() -> None:
    transport = Written()
    joining = Joining(transport)
    joining.write(b"a")
    joining.hold_next()
    joining.write(b"head ")
    assert transport.pieces == [b"a"]
    joining.write(b"body")
    joining.write(b"more")
    assert transport.pieces == [b"a", b"head body", b"more"]


def test_everything_else_is_the_transport_s_own() -> None:
    assert not Joining(Written()).is_closing()
