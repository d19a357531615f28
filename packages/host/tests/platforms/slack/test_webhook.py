"""Tests the calls of Slack: signature and age, the challenge, and the forms of buttons and commands."""

import json
import time
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest

from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.platforms._kit.webhooks import sign
from parlour.testing.slack_simulator import SlackSimulator
from parlour.testing.slack_simulator.simulator import SIGNING_SECRET

from .conftest import Bot


def call(body: bytes, secret: str = SIGNING_SECRET, age: float = 0.0, kind: str = "application/json") -> HookCall:
    moment = str(int(time.time() - age))
    signature = "v0=" + sign(secret, b"v0:" + moment.encode() + b":" + body)
    headers = {"x-slack-signature": signature, "x-slack-request-timestamp": moment, "content-type": kind}
    return HookCall(body, headers)


@pytest.fixture
async def hooked(simulator: SlackSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url, mode="webhook").served() as bot:
        yield bot


async def test_the_challenge_is_answered(hooked: Bot) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1aB"}).encode()
    assert await hooked.adapter.hook(call(body)) == HookResponse(200, "3eZbrw1aB")


@pytest.mark.parametrize(
    "wrong",
    [
        call(b"{}", secret="another"),
        call(b"{}", age=400),
        call(b"{}", age=-4_000),
        HookCall(b"{}", {"x-slack-request-timestamp": "now"}),
        HookCall(b"{} ", call(b"{}").headers),
        HookCall(b"{}"),
    ],
)
async def test_a_call_that_is_not_from_slack_is_refused(hooked: Bot, wrong: HookCall) -> None:
    assert (await hooked.adapter.hook(wrong)).status == 401
    assert hooked.link.incoming == []


@pytest.mark.parametrize("wrong", [call(b"{}", secret="another"), call(b"{}", age=4000)])
async def test_the_status_explains_refused_calls_until_one_is_right(hooked: Bot, wrong: HookCall) -> None:
    await hooked.adapter.hook(wrong)
    assert hooked.link.now[0] == "connected"
    assert "signing_secret must be" in hooked.link.now[1]
    await hooked.adapter.hook(call(b"{}"))
    await hooked.adapter.hook(wrong)
    assert hooked.link.now == ("connected", "")


async def test_an_event_is_stored_before_it_is_acknowledged(hooked: Bot) -> None:
    message = hooked.simulator.world.write("CTALK", "UANN", "hello 👋")
    body = json.dumps(hooked.simulator.event(message), ensure_ascii=False).encode()
    assert (await hooked.adapter.hook(call(body))).status == 200
    assert hooked.texts() == ["hello 👋"]


async def test_a_command_and_a_pressed_button_come_as_forms(hooked: Bot) -> None:
    kind = "application/x-www-form-urlencoded"
    command = {"command": "/ask", "text": "why", "user_id": "UANN", "channel_id": "CTALK", "trigger_id": "1.2"}
    action = {"action_id": "parlour-0", "value": 'approval\n"approve ab"', "action_ts": "1779012345.000100"}
    pressed = {"type": "block_actions", "user": {"id": "UANN"}, "channel": {"id": "CTALK"}, "actions": [action]}
    for form in (command, {"payload": json.dumps(pressed)}):
        assert (await hooked.adapter.hook(call(urlencode(form).encode(), kind=kind))).status == 200
    found = [(each.event.action_id, each.event.value, each.role) for each in hooked.link.incoming]  # type: ignore[attr-defined]
    assert found == [("/ask", "why", "admin"), ("approval", "approve ab", "admin")]


async def test_unreadable_calls_are_acknowledged_and_ignored(hooked: Bot) -> None:
    assert (await hooked.adapter.hook(call(b"\xff\xfe no json"))).status == 200
    assert hooked.link.incoming == []


async def test_a_bot_in_socket_mode_is_not_called(bot: Bot) -> None:
    assert (await bot.adapter.hook(call(b"{}"))).status == 404
