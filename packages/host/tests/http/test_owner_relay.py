"""Requests about a part of another Host are answered by that Host, with the credentials and bytes of the client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from aiohttp import web

from parlour.core.ingest.arrivals import ARRIVAL, AnsweredElsewhere
from parlour.core.model.ids import PartId
from parlour.core.redaction import Redactor
from parlour.http.errors import ErrorResponses
from parlour.http.owner_relay import OwnerRelay
from parlour_sdk.values import dataclass

PART = PartId("shard:07")


async def local(scope: Any, receive: Any, send: Any) -> None:
    """Answers `here` and the body; a request to `/chat` is found to be another Host's after its body was read."""
    body = (await receive())["body"]
    if scope["path"] == "/chat" and (arrival := ARRIVAL.get()) is not None:
        arrival.part = PART
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b"not here"})
        raise AnsweredElsewhere
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here" + body})


@dataclass(frozen=True, slots=True)
class Owners:
    """Finds this owner for hooks, and for the part of a chat."""

    owner: str | None

    async def find(self, method: str, path: str) -> str | None:
        return self.owner if path.startswith("/hooks/") else ""

    async def address(self, part: PartId) -> str | None:
        assert part == PART
        return self.owner


@asynccontextmanager
async def owner_host() -> AsyncIterator[tuple[str, list[Any]]]:
    """Yields the address of a Host that answers with what it got."""
    requests: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        requests.append((request.method, request.path_qs, request.headers, body))
        cookies = {"Set-Cookie": request.headers["X-Set"]} if "X-Set" in request.headers else {}
        return web.Response(body=body[::-1], status=207, headers={"X-Own": "1", **cookies})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield site.name, requests
    finally:
        await runner.cleanup()


@asynccontextmanager
async def relaying(
    owner: str | None, body_bytes: int = 1000, counted: list[str] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    counted = [] if counted is None else counted
    relay = OwnerRelay(local, Owners(owner), ErrorResponses(Redactor()), body_bytes, counted.append)
    transport = httpx.ASGITransport(app=relay, client=("10.1.2.3", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://chat.example") as client:
        yield client
    await relay.close()


async def test_a_request_for_another_host_is_passed_on_as_it_is_and_its_answer_comes_back() -> None:
    async with owner_host() as (address, requests), relaying(address) as client:
        sent = {"Authorization": "Bearer key", "X-Signature": "abc"}
        answer = await client.post("/hooks/b%C3%A9?a=1&b=%20", content=b"body", headers=sent)
        assert (answer.status_code, answer.content, answer.headers["x-own"]) == (207, b"ydob", "1")
        [(method, path, headers, body)] = requests
        assert (method, path, body) == ("POST", "/hooks/b%C3%A9?a=1&b=%20", b"body")
        assert headers["Authorization"] == "Bearer key"
        assert headers["X-Signature"] == "abc"
        assert headers["Host"] == "chat.example"
        assert headers["X-Forwarded-For"] == "10.1.2.3"


async def test_a_request_that_was_passed_on_is_answered_even_if_the_part_has_moved() -> None:
    async with owner_host() as (address, requests), relaying(address) as client:
        assert (await client.post("/hooks/b", headers={"X-Parlour-Relayed": "1"})).content == b"here"
        assert (await client.get("/other")).content == b"here"
        assert requests == []


async def test_an_owner_that_is_not_known_or_does_not_answer_is_a_reason_to_ask_again() -> None:
    for owner in (None, "http://127.0.0.1:1"):
        async with relaying(owner) as client:
            answer = await client.post("/hooks/b")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.json()["error"]["details"] == {"retry_after": 1}


async def test_a_body_above_the_limit_is_refused_before_it_is_passed_on() -> None:
    async with owner_host() as (address, requests), relaying(address, body_bytes=10) as client:
        assert (await client.post("/hooks/b", content=b"x" * 11)).status_code == 413
        assert requests == []


async def test_a_request_that_turns_out_to_be_another_hosts_is_answered_there_and_not_here() -> None:
    counted: list[str] = []
    async with owner_host() as (address, requests), relaying(address, counted=counted) as client:
        answer = await client.post("/chat", content=b"body")
        assert (answer.status_code, answer.content) == (207, b"ydob")
        assert [body for *_, body in requests] == [b"body"]
        assert counted == ["relayed"]


async def test_a_request_of_an_owner_that_can_not_be_reached_is_answered_here_with_the_same_body() -> None:
    for owner in (None, "", "http://127.0.0.1:1"):
        counted: list[str] = []
        async with relaying(owner, counted=counted) as client:
            answer = await client.post("/chat", content=b" body")
            assert (answer.status_code, answer.content) == (200, b"here body")
            assert counted == ["answered_here"]


async def test_a_request_with_a_body_above_the_limit_is_not_kept_and_is_answered_here() -> None:
    async with owner_host() as (address, requests), relaying(address, body_bytes=3) as client:
        assert (await client.post("/other", content=b"body")).content == b"herebody"
        assert requests == []


async def test_no_cookie_of_one_client_is_sent_for_another() -> None:
    async with owner_host() as (address, requests), relaying(address.replace("127.0.0.1", "localhost")) as client:
        await client.post("/hooks/a", headers={"X-Set": "session=secret"})
        client.cookies.clear()
        await client.post("/hooks/b")
        assert "Cookie" not in requests[1][2]
