"""Tests that the simulated LINE rejects what LINE rejects."""

import uuid
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.testing.line_simulator import LineSimulator
from parlour.testing.line_simulator.simulator import ACCESS_TOKEN
from parlour.testing.line_simulator.world import line_id

TEXT = {"type": "text", "text": "x"}
PICTURE = {"type": "image", "originalContentUrl": "https://x.io/a.png", "previewImageUrl": "https://x.io/a.png"}
ANN = line_id("U", 0xA)


@pytest.fixture(autouse=True)
def friend(simulator: LineSimulator) -> None:
    simulator.world.add_user("Ann", ANN)


async def post(url: str, path: str, body: Any, key: str = "", token: str = ACCESS_TOKEN) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}", **({"X-Line-Retry-Key": key} if key else {})}
    async with ClientSession() as session, session.post(f"{url}{path}", json=body, headers=headers) as response:
        answer = await response.json()
        details = [f"{each['property']}: {each['message']}" for each in answer.get("details", ())]
        return response.status, "; ".join([answer.get("message", ""), *details])


async def push(url: str, *messages: Any, **fields: Any) -> tuple[int, str]:
    return await post(url, "/v2/bot/message/push", {"to": ANN, "messages": list(messages), **fields})


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"type": "text", "text": ""}, "May not be empty"),
        ({"type": "text", "text": "x" * 5001}, "Length must be between 0 and 5000"),
        ({"type": "text", "text": "👋" * 2501}, "Length must be between 0 and 5000"),
        ({"type": "text", "text": "x", "color": "red"}, "Unknown field"),
        ({"type": "text", "text": "x", "quoteToken": "no"}, "Invalid quote token"),
        ({"type": "file", "name": "a.pdf"}, "Must be one of the following values"),
        ({**PICTURE, "originalContentUrl": "http://x.io/a.png"}, "Must be a valid HTTPS URL"),
        ({"type": "image", "originalContentUrl": "https://x.io/a.png"}, "previewImageUrl: May not be empty"),
        ({"type": "audio", "originalContentUrl": "https://x.io/a.mp3", "duration": 0}, "Must be greater than 0"),
        ({"type": "textV2", "text": "{a}"}, "Does not match the placeholders"),
        ({"type": "textV2", "text": "a { b"}, "A brace must be doubled"),
        ({"type": "flex", "altText": "x", "contents": {"type": "page"}}, "[bubble, carousel]"),
    ],
)
async def test_an_invalid_message_is_rejected(simulator: LineSimulator, url: str, message: Any, problem: str) -> None:
    status, text = await push(url, message)
    assert (status, problem in text) == (400, True), text
    assert simulator.sent() == []


async def test_mentions_in_private_chats_and_of_strangers_are_rejected(simulator: LineSimulator, url: str) -> None:
    value = {"type": "mention", "mentionee": {"type": "user", "userId": line_id("U", 0xE)}}
    message = {"type": "textV2", "text": "{a}", "substitution": {"a": value}}
    assert "groups and rooms only" in (await push(url, message))[1]
    group = simulator.world.add_group("talk", ANN)
    assert "not in the chat" in (await push(url, message, to=group))[1]


@pytest.mark.parametrize("number", [0, 6])
async def test_a_call_has_one_to_five_messages(url: str, number: int) -> None:
    assert "Size must be between 1 and 5" in (await push(url, *[TEXT] * number))[1]


async def test_wrong_tokens_targets_and_fields_are_rejected(url: str) -> None:
    assert (await post(url, "/v2/bot/message/push", {"to": ANN, "messages": [TEXT]}, token="no"))[0] == 401
    assert "'to', in the request body is invalid" in (await push(url, TEXT, to="ann"))[1]
    assert "Unknown field" in (await push(url, TEXT, thread="1"))[1]
    assert (
        "Must be a multiple of 5"
        in (await post(url, "/v2/bot/chat/loading/start", {"chatId": ANN, "loadingSeconds": 7}))[1]
    )


async def test_a_reply_token_is_accepted_once_and_only_in_time(simulator: LineSimulator, url: str) -> None:
    async def reply(token: str, **fields: Any) -> tuple[int, str]:
        return await post(url, "/v2/bot/message/reply", {"replyToken": token, "messages": [TEXT]}, **fields)

    token = simulator.event("message", ANN, ANN)["replyToken"]
    assert (await reply(token, key=str(uuid.uuid4())))[1] == "The retry key is not supported by this API"
    assert [await reply(token) for _ in range(2)] == [(200, ""), (400, "Invalid reply token")]
    simulator.reply_token_seconds = -1
    late = simulator.event("message", ANN, ANN)["replyToken"]
    assert await reply(late) == (400, "Invalid reply token")


async def test_a_retry_key_is_a_uuid_and_is_accepted_once(simulator: LineSimulator, url: str) -> None:
    body, key = {"to": ANN, "messages": [TEXT]}, str(uuid.uuid4())
    assert (await post(url, "/v2/bot/message/push", body, key="not-a-uuid"))[0] == 400
    statuses = [(await post(url, "/v2/bot/message/push", body, key=key))[0] for _ in range(2)]
    assert statuses == [200, 409]
    assert len(simulator.sent()) == 1


async def test_rates_and_the_quota_of_the_month_are_kept(simulator: LineSimulator, url: str) -> None:
    simulator.limit, simulator.quota = (2.0, 60.0), 1
    texts = [(await push(url, TEXT))[1] for _ in range(3)]
    assert texts[0] == ""
    assert texts[1] == "You have reached your monthly limit."
    assert texts[2].startswith("The API rate limit has been exceeded")
