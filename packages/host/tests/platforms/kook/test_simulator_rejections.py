"""Tests that the simulated KOOK rejects what KOOK rejects."""

import json
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.testing.kook_simulator import KookSimulator

from .conftest import ANN, CHANNEL

BUTTON = {"type": "button", "text": "x"}


async def make(simulator: KookSimulator, url: str, path: str, token: str = "", **params: Any) -> tuple[int, int]:
    headers = {"Authorization": f"Bot {token or simulator.token}"}
    async with ClientSession() as session, session.post(f"{url}/{path}", json=params, headers=headers) as response:
        return response.status, (await response.json())["code"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"target_id": "404", "content": "x"}, 40400),
        ({"target_id": CHANNEL}, 40000),
        ({"target_id": CHANNEL, "content": "x" * 8001}, 40000),
        ({"target_id": CHANNEL, "content": "x", "unknown": 1}, 40000),
        ({"target_id": CHANNEL, "content": "x", "quote": "404"}, 40400),
        ({"target_id": CHANNEL, "content": "x", "type": 77}, 40000),
        ({"target_id": CHANNEL, "content": "https://example.com/a.png", "type": 2}, 40000),
        ({"target_id": CHANNEL, "content": "no json", "type": 10}, 40000),
        ({"target_id": CHANNEL, "content": json.dumps([{"type": "card", "modules": [{}]}] * 6), "type": 10}, 40000),
        (
            {
                "target_id": CHANNEL,
                "content": json.dumps(
                    [{"type": "card", "modules": [{"type": "action-group", "elements": [BUTTON] * 5}]}]
                ),
                "type": 10,
            },
            40000,
        ),
    ],
)
async def test_an_invalid_message_is_rejected(simulator: KookSimulator, url: str, params: Any, code: int) -> None:
    assert await make(simulator, url, "message/create", **params) == (200, code)
    assert simulator.sent() == []


async def test_a_wrong_token_messages_of_others_and_the_rate_are_rejected(simulator: KookSimulator, url: str) -> None:
    theirs = simulator.world.write("GROUP", CHANNEL, ANN, 9, "theirs")["id"]
    assert await make(simulator, url, "message/create", "no", target_id=CHANNEL, content="x") == (401, 40101)
    assert await make(simulator, url, "message/update", msg_id=theirs, content="x") == (200, 40300)
    assert await make(simulator, url, "message/delete", msg_id=theirs) == (200, 40300)
    simulator.limit = (1.0, 60.0)
    assert await make(simulator, url, "message/create", target_id=CHANNEL, content="x") == (200, 0)
    assert await make(simulator, url, "message/create", target_id=CHANNEL, content="x") == (429, 42900)


async def test_a_ticket_of_the_gateway_is_used_once(simulator: KookSimulator, url: str) -> None:
    address = simulator.gateway.url(compress=False)
    async with ClientSession() as session:
        async with session.ws_connect(address) as socket:
            assert (await socket.receive_json())["d"]["code"] == 0
        async with session.ws_connect(address) as socket:
            assert (await socket.receive_json())["d"]["code"] == 40103
