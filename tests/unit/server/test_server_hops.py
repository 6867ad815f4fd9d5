"""Header names of an answer: spelled as the upstream spells them, the same in any case."""

from __future__ import annotations

import pytest

from memproxy.server import hops


@pytest.mark.parametrize("status", [200, 204, 304])
def test_names_come_down_as_they_were_spelled(status: int) -> None:
    given = [(b"X-Request-ID", b"1"), (b"Content-Length", b"0"), (b"Keep-Alive", b"5"), (b"vary", b"Origin")]
    got = hops.response_headers(status, given)
    counted = [b"Content-Length"] if status == 200 else []
    assert [bytes(name) for name, _ in got] == [b"X-Request-ID", *counted, b"vary"]


def test_a_spelled_name_is_the_same_in_any_case() -> None:
    name = hops.Spelled(b"Content-Length")
    assert name == b"content-length"
    assert [other for other in (b"content-length",) if name != other] == []  # bytes decides about != apart
    assert name in {b"content-length"}
    assert name.startswith(b"content-")
    assert bytes(name.lower()) == b"Content-Length"  # a server that lowers names leaves it
    assert name != b"content-type"
