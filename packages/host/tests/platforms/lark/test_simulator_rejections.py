"""Tests that the simulated Feishu rejects what Feishu rejects."""

import json
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.lark_simulator.simulator import APP_ID, APP_SECRET

from .conftest import ANN, GROUP

CARD = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "", "element_id": "md_1"}]}}
STREAMING = {**CARD, "config": {"streaming_mode": True}}


async def make(url: str, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
    async with ClientSession() as session:
        if token is None:
            credentials = {"app_id": APP_ID, "app_secret": APP_SECRET}
            address = f"{url}/open-apis/auth/v3/tenant_access_token/internal"
            async with session.post(address, json=credentials) as response:
                token = (await response.json())["tenant_access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        async with session.request(method, f"{url}/open-apis/{path}", json=body, headers=headers) as response:
            answer = await response.json()
            return answer["code"], answer.get("data")


SEND = "im/v1/messages?receive_id_type=chat_id"


def text(value: Any, **fields: Any) -> dict[str, Any]:
    return {"receive_id": GROUP, "msg_type": "text", "content": json.dumps({"text": value}), **fields}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (text("x", receive_id="oc_404"), 232006),
        (text(""), 230001),
        (text("x" * 160_000), 230025),
        (text("x", unknown=1), 230001),
        (text("x", uuid="u" * 51), 230001),
        (text("x", msg_type="nothing"), 230001),
        ({**text("x"), "content": {"text": "x"}}, 230001),
        ({**text("x"), "msg_type": "image", "content": '{"image_key": "img_404"}'}, 230001),
        ({**text("x"), "msg_type": "post", "content": '{"zh_cn": {"content": [[{"tag": "no"}]]}}'}, 230001),
        ({**text("x"), "msg_type": "interactive", "content": '{"elements": []}'}, 230099),
    ],
)
async def test_an_invalid_message_is_rejected(simulator: LarkSimulator, url: str, body: Any, code: int) -> None:
    assert (await make(url, "POST", SEND, body))[0] == code
    assert simulator.sent() == []


async def test_wrong_tokens_unknown_calls_and_foreign_messages_are_rejected(simulator: LarkSimulator, url: str) -> None:
    theirs = simulator.world.write(GROUP, ANN, "text", {"text": "theirs"})["message_id"]
    assert (await make(url, "GET", "bot/v3/info", token="t-wrong"))[0] == 99991663
    assert (await make(url, "GET", "bot/v3/info", token=""))[0] == 99991661
    assert (await make(url, "GET", "no/such/call"))[0] == 404
    assert (await make(url, "DELETE", f"im/v1/messages/{theirs}"))[0] == 230071
    assert (await make(url, "PUT", f"im/v1/messages/{theirs}", text("x")))[0] == 230071
    reaction = {"reaction_type": {"emoji_type": "no_such"}}
    assert (await make(url, "POST", f"im/v1/messages/{theirs}/reactions", reaction))[0] == 231001


async def test_the_same_uuid_is_the_same_message_and_edits_are_counted(simulator: LarkSimulator, url: str) -> None:
    ids = {(await make(url, "POST", SEND, text("x", uuid="u")))[1]["message_id"] for _ in range(2)}
    [message_id] = ids
    path = f"im/v1/messages/{message_id}"
    codes = [(await make(url, "PUT", path, {"msg_type": "text", "content": '{"text": "y"}'}))[0] for _ in range(21)]
    assert codes == [0] * 20 + [230072]
    assert (await make(url, "PATCH", path, {"content": json.dumps(CARD)}))[0] == 230054


async def test_changes_of_a_card_need_growing_numbers_and_its_streaming_mode(
    simulator: LarkSimulator, url: str
) -> None:
    data = {"type": "card_json", "data": json.dumps(STREAMING)}
    _, made = await make(url, "POST", "cardkit/v1/cards", data)
    path = f"cardkit/v1/cards/{made['card_id']}"

    async def change(number: Any, verb: str = "PUT", end: str = "/elements/md_1/content", **body: Any) -> int:
        return int((await make(url, verb, path + end, {"sequence": number, "content": "x", **body}))[0])

    assert [await change(number) for number in (5, 5, 4, 6, 0, 2**31, "7")] == [
        0,
        300317,
        300317,
        0,
        300301,
        300301,
        300301,
    ]
    assert await change(7, end="/elements/md_2/content") == 300313
    replaced = {"card": {"type": "card_json", "data": json.dumps(CARD)}}
    assert await change(8, end="", **replaced) == 300308
    assert await change(9, "PATCH", "/settings", settings='{"config": {"streaming_mode": false}}') == 0
    assert await change(10) == 300309
    assert await change(11, end="", **replaced) == 0


async def test_the_sixth_message_in_a_second_is_too_many(url: str) -> None:
    codes = [(await make(url, "POST", SEND, text(str(number))))[0] for number in range(6)]
    assert codes == [0] * 5 + [230020]
