"""The comparison itself: whatever a gateway has been seen to do to an answer or a request is a difference to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memproxy.testing import Request
from memproxy.trust import CLOSE, OPEN
from tests.conformance.comparison import Lines, Seen, differences, request_differences

EVENTS = (b"content-type", b"text/event-stream")
COOKIES: Lines = [(b"set-cookie", b"a=1"), (b"x-a", b"1"), (b"set-cookie", b"b=2")]
DIRECT = Seen(b"HTTP/1.1 200 OK", [EVENTS, *COOKIES], b"data: {}\n\n", whole=True)
BLOCK = f"{OPEN}x{CLOSE}".encode()
SENT = Request("POST", b"/v1/x?a=b", [(b"A", b"1"), (b"Content-Length", b"8")], b'{"a":1.0}')


def added(*pairs: tuple[bytes, bytes]) -> Lines:
    return [*DIRECT.headers, *pairs]


@pytest.mark.parametrize(
    "headers",
    [
        added((b"x-memg-request-id", b"1"), (b"connection", b"close"), (b"transfer-encoding", b"chunked")),
        added((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")),
    ],
)
def test_what_may_be_added_is_no_difference(headers: Lines) -> None:
    assert differences(DIRECT, replace(DIRECT, headers=headers)) == []


@pytest.mark.parametrize(
    "proxied",
    [
        replace(DIRECT, status_line=b"HTTP/1.1 201 Created"),
        replace(DIRECT, headers=[EVENTS, *COOKIES[:2]]),
        replace(DIRECT, headers=[EVENTS, *reversed(COOKIES)]),
        replace(DIRECT, headers=added((b"date", b"now"))),
        replace(DIRECT, headers=[(EVENTS[0], EVENTS[1] + b"; charset=utf-8"), *COOKIES]),
        replace(DIRECT, body=b"data: {}\n\ndata: [DONE]\n\n"),
        replace(DIRECT, body=b"data:{}\n\n"),
        replace(DIRECT, whole=False),
    ],
)
def test_anything_else_is_one(proxied: Seen) -> None:
    assert len(differences(DIRECT, proxied)) == 1


def test_headers_against_buffering_are_for_streams_and_for_those_that_have_none() -> None:
    json = replace(DIRECT, headers=[(b"content-type", b"application/json")])
    assert differences(json, replace(json, headers=[*json.headers, (b"cache-control", b"no-cache")]))
    cached = replace(DIRECT, headers=added((b"cache-control", b"no-store")))
    assert differences(cached, replace(cached, headers=added((b"cache-control", b"no-cache"))))


def proxied(body: bytes, *headers: tuple[bytes, bytes], target: bytes = SENT.target) -> Request:
    return Request("POST", target, [*headers, (b"content-length", str(len(body)).encode())], body)


def test_a_request_that_grew_by_a_block_is_the_clients() -> None:
    body = b'{"system":"' + BLOCK + b'",' + SENT.body[1:]
    assert request_differences(SENT, proxied(body, (b"a", b"1"), (b"x-memg-hop", b"1"))) == []


@pytest.mark.parametrize(
    "request_",
    [
        proxied(b'{"system":"' + BLOCK + b'","a":1}', (b"a", b"1")),
        proxied(b'{"system":"x",' + SENT.body[1:], (b"a", b"1")),
        proxied(BLOCK + SENT.body, (b"a", b"1"), target=b"/v1/x"),
        proxied(BLOCK + SENT.body),
        proxied(BLOCK + SENT.body, (b"a", b"1"), (b"a", b"1")),
        replace(proxied(BLOCK + SENT.body), headers=SENT.headers),
    ],
)
def test_a_request_that_differs_in_anything_else_is_not(request_: Request) -> None:
    assert len(request_differences(SENT, request_)) == 1
