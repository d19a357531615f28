"""Tests that the simulated Discord rejects what Discord rejects."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType

from parlour.testing.discord_simulator import DiscordSimulator

AGENT = "DiscordBot (https://example.com, 1)"
EMBED = {"title": "e"}


@pytest.fixture
async def session(simulator: DiscordSimulator) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bot {simulator.token}", "User-Agent": AGENT}
    async with ClientSession(headers=headers) as session:
        yield session


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "x" * 2001}, 50035),
        ({"content": 1}, 50035),
        ({"content": "x", "unknown": 1}, 50035),
        ({"content": "x", "nonce": "n" * 26}, 50035),
        ({"content": "x", "embeds": [EMBED] * 11}, 50035),
        ({"content": "x", "embeds": [{"description": "x" * 6001}]}, 50035),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, 50035),
        ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, 50035),
        ({"content": "x", "message_reference": {"message_id": "1"}}, 50035),
        ({"content": "x", "sticker_ids": ["1", "2", "3", "4"]}, 50035),
        ({"content": "x", "attachments": [{"id": 0, "filename": "a"}]}, 50035),
        ({"content": "x", "components": [{"type": 1, "components": []}]}, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [{"type": 2, "style": 9}]}]}, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [{"type": 2, "style": 1}]}]}, 50035),
        ({"content": ""}, 50006),
        ({}, 50006),
    ],
)
async def test_an_invalid_message_is_rejected(
    simulator: DiscordSimulator, url: str, session: ClientSession, body: Any, code: int
) -> None:
    channel = simulator.world.add_guild().payload["system_channel_id"]
    async with session.post(f"{url}/channels/{channel}/messages", json=body) as response:
        assert (response.status, (await response.json())["code"]) == (400, code)
    assert simulator.sent() == []


async def test_a_wrong_token_agent_channel_and_rate_are_rejected(
    simulator: DiscordSimulator, url: str, session: ClientSession
) -> None:
    channel = simulator.world.add_guild().payload["system_channel_id"]
    address = f"{url}/channels/{channel}/messages"
    async with session.post(address, json={"content": "x"}, headers={"Authorization": "Bot no"}) as response:
        assert response.status == 401
    async with session.post(address, json={"content": "x"}, headers={"User-Agent": "curl"}) as response:
        assert response.status == 403
    async with session.post(f"{url}/channels/1/messages", json={"content": "x"}) as response:
        assert (await response.json())["code"] == 10003
    for _ in range(5):
        async with session.post(address, json={"content": "x"}) as response:
            assert response.status == 200
    assert response.headers["X-RateLimit-Remaining"] == "0"
    async with session.post(address, json={"content": "x"}) as response:
        body = await response.json()
        assert (response.status, body["global"]) == (429, False)
        assert 0 < body["retry_after"] <= 5


async def test_a_late_and_a_second_acknowledgement_are_rejected(
    simulator: DiscordSimulator, url: str, session: ClientSession
) -> None:
    channel, ann = simulator.world.add_guild().payload["system_channel_id"], simulator.world.add_user("Ann")
    [guild] = simulator.world.guilds
    simulator.world.add_member(guild, ann)
    late, twice = [await simulator.command("ask", {}, channel, ann) for _ in range(2)]
    late.pressed_at -= 4

    async def respond(payload: dict[str, Any]) -> int:
        address = f"{url}/interactions/{payload['id']}/{payload['token']}/callback"
        async with session.post(address, json={"type": 5}) as response:
            return 0 if response.status == 204 else int((await response.json())["code"])

    assert await respond(late.payload) == 10062
    assert [await respond(twice.payload) for _ in range(2)] == [0, 40060]


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (["no json"], 4002),
        ([{"op": 99}], 4001),
        ([{"op": 3, "d": {}}], 4003),
        ([{"op": 2, "d": {"token": "no", "intents": 0, "properties": {}}}], 4004),
        ([{"op": 2, "d": {"token": "T", "intents": 0, "properties": {}}}] * 2, 4005),
        ([{"op": 2, "d": {"token": "T", "intents": 0, "properties": {}}}, {"op": 1, "d": 999}], 4007),
        ([{"op": 1, "d": None}] * 121, 4008),
        ([{"op": 2, "d": {"token": "T", "intents": 1 << 30, "properties": {}}}], 4013),
        ([{"op": 2, "d": {"token": "T", "intents": 0, "properties": {}, "shard": [1, 2]}}], 4010),
        ([{"op": 1, "d": "x" * 4097}], 4002),
    ],
)
async def test_a_mistake_at_the_gateway_closes_the_connection(
    simulator: DiscordSimulator, url: str, frames: list[Any], code: int
) -> None:
    async with ClientSession() as session, session.ws_connect(f"{simulator.gateway.url}?v=10&encoding=json") as socket:
        for frame in frames:
            text = frame if isinstance(frame, str) else json.dumps(frame).replace('"T"', f'"{simulator.token}"')
            await socket.send_str(text)
        async for message in socket:
            assert message.type == WSMsgType.TEXT
    assert socket.close_code == code
