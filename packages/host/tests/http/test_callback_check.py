"""Tests the check of a callback address: what a platform would see there, and that only this Host can prove itself."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient

from parlour.app.secret_key import FileSecretBox
from parlour.core.model.ids import BotId
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.http.bots.callback_check import CallbackCheck
from parlour.http.platform_callbacks.endpoints import CHECK_FIELD, router
from parlour.testing.network import free_port

BOT = BotId("b1")
Answer = Callable[[web.Request], web.StreamResponse]


@pytest.fixture
def box(tmp_path: Path) -> FileSecretBox:
    return FileSecretBox(tmp_path / "key")


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[str]:
    """Serves every path and yields the address."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return answer(request)

    app = web.Application()
    app.router.add_get("/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def outcome(box: FileSecretBox, answer: Answer) -> tuple[str, str]:
    async with server(answer) as address:
        result = await CallbackCheck(address, box).check(BOT)
    return result["outcome"], result["message"]


async def test_an_answer_of_this_host_is_recognized_and_its_private_address_named(box: FileSecretBox) -> None:
    found, message = await outcome(
        box, lambda request: web.Response(text=CallbackCheck("", box).answer(request.query[CHECK_FIELD]))
    )
    assert found == "private_address"
    assert "127.0.0.1" in message


@pytest.mark.parametrize(
    ("answer", "expected", "part"),
    [
        (lambda request: web.Response(text="welcome"), "other_server", "status 200"),
        (lambda request: web.Response(status=404), "other_server", "status 404"),
        (lambda request: web.Response(text=request.query[CHECK_FIELD]), "other_server", "status 200"),
        (
            lambda request: web.Response(status=308, headers={"Location": "https://other.example/x?y"}),
            "redirected",
            "https://other.example;",
        ),
    ],
)
async def test_what_is_wrong_with_the_address_is_named(
    box: FileSecretBox, answer: Answer, expected: str, part: str
) -> None:
    found, message = await outcome(box, answer)
    assert found == expected
    assert part in message


async def test_an_address_without_a_server_is_unreachable_and_none_is_asked_for(box: FileSecretBox) -> None:
    closed = CallbackCheck(f"http://127.0.0.1:{free_port()}", box)
    assert (await closed.check(BOT))["outcome"] == "unreachable"
    assert (await CallbackCheck("", box).check(BOT))["outcome"] == "no_address"


async def test_the_endpoint_answers_only_its_own_checks_and_passes_all_others_to_the_bot(
    box: FileSecretBox, tmp_path: Path
) -> None:
    calls: list[HookCall] = []

    async def hook(bot_id: BotId, call: HookCall) -> HookResponse:
        calls.append(call)
        return HookResponse(text="of the bot")

    other_box = FileSecretBox(tmp_path / "another key")
    app = FastAPI()
    app.include_router(router(hook, lambda bot_id: None, CallbackCheck("", box).answer))
    async with AsyncClient(transport=ASGITransport(app), base_url="http://host") as http:
        own = await http.get("/hooks/b1", params={CHECK_FIELD: box.seal("callback-check:42")})
        other = await http.get("/hooks/b1", params={CHECK_FIELD: other_box.seal("callback-check:42")})
        secret = await http.get("/hooks/b1", params={CHECK_FIELD: box.seal("a stored token")})
        posted = await http.post("/hooks/b1", params={CHECK_FIELD: box.seal("callback-check:42")})
    assert [each.text for each in (own, other, secret, posted)] == ["42", *["of the bot"] * 3]
    assert len(calls) == 3
