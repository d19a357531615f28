"""Tests that the simulated Slack rejects what Slack rejects."""

import json
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.testing.slack_simulator import SlackSimulator
from parlour.testing.slack_simulator.simulator import APP_TOKEN, BOT_TOKEN

BUTTON = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "A"}}


async def make(url: str, method: str, token: str = BOT_TOKEN, **params: Any) -> tuple[int, str]:
    form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with ClientSession() as session, session.post(f"{url}/{method}", data=form, headers=headers) as response:
        return response.status, (await response.json()).get("error", "")


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"channel": "C404", "text": "x"}, "channel_not_found"),
        ({"channel": "CTALK"}, "no_text"),
        ({"channel": "CTALK", "text": "x" * 40_001}, "msg_too_long"),
        ({"channel": "CTALK", "text": "x", "unknown": "1"}, "invalid_arguments"),
        ({"channel": "CTALK", "text": "x", "thread_ts": "1.2"}, "thread_not_found"),
        ({"channel": "CTALK", "blocks": [{"type": "no"}]}, "invalid_blocks"),
        ({"channel": "CTALK", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"channel": "CTALK", "blocks": [{"type": "section", "text": {"text": "x" * 3001}}]}, "invalid_blocks"),
        ({"channel": "CTALK", "blocks": [{"type": "actions", "elements": [BUTTON, BUTTON]}]}, "invalid_blocks"),
        ({"channel": "CTALK", "blocks": "[no"}, "invalid_blocks_format"),
    ],
)
async def test_an_invalid_message_is_rejected(simulator: SlackSimulator, url: str, params: Any, error: str) -> None:
    assert await make(url, "chat.postMessage", **params) == (200, error)
    assert simulator.sent() == []


@pytest.mark.parametrize(
    ("method", "token", "error"),
    [
        ("auth.test", "", "not_authed"),
        ("auth.test", "xoxb-no", "invalid_auth"),
        ("auth.test", APP_TOKEN, "not_allowed_token_type"),
        ("apps.connections.open", BOT_TOKEN, "not_allowed_token_type"),
        ("no.method", BOT_TOKEN, "unknown_method"),
    ],
)
async def test_a_wrong_token_or_method_is_rejected(url: str, method: str, token: str, error: str) -> None:
    assert await make(url, method, token) == (200, error)


async def test_messages_of_others_reactions_twice_and_used_tickets_are_rejected(
    simulator: SlackSimulator, url: str
) -> None:
    theirs = simulator.world.write("CTALK", "UANN", "theirs")["ts"]
    place = {"channel": "CTALK", "timestamp": theirs}
    assert (await make(url, "chat.update", channel="CTALK", ts=theirs, text="x"))[1] == "cant_update_message"
    assert (await make(url, "chat.delete", channel="CTALK", ts=theirs))[1] == "cant_delete_message"
    assert [(await make(url, "reactions.add", **place, name="+1"))[1] for _ in range(2)] == ["", "already_reacted"]
    assert (await make(url, "reactions.add", **place, name="no_such"))[1] == "invalid_name"
    ticket = simulator.socket_mode.url()
    async with ClientSession() as session:
        async with session.ws_connect(ticket) as socket:
            assert (await socket.receive_json())["type"] == "hello"
        async with session.ws_connect(ticket) as socket:
            await socket.receive()
            assert socket.close_code == 1008


async def test_the_fifth_message_in_a_channel_is_too_many(url: str) -> None:
    for _ in range(4):
        assert await make(url, "chat.postMessage", channel="CTALK", text="x") == (200, "")
    assert await make(url, "chat.postMessage", channel="CTALK", text="x") == (429, "ratelimited")
