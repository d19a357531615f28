"""Tests that the simulated gateway refuses what the real one refuses."""

import base64
from typing import Any

import aiohttp
import pytest

from parlour.testing.wechat_simulator import TOKEN, WechatSimulator

from .conftest import ANN

HEADERS = {
    "iLink-App-Id": "bot", "iLink-App-ClientVersion": "132105", "AuthorizationType": "ilink_bot_token",
    "Authorization": f"Bearer {TOKEN}", "X-WECHAT-UIN": base64.b64encode(b"4294967295").decode(),
}  # fmt: skip
BASE = {"base_info": {"channel_version": "2.4.9"}}


def text_message(**fields: Any) -> dict[str, Any]:
    message = {
        "from_user_id": "", "to_user_id": ANN, "client_id": "c", "message_type": 2, "message_state": 2,
        "item_list": [{"type": 1, "text_item": {"text": "hi"}}], "context_token": "context-1",
    }  # fmt: skip
    return {"msg": {**message, **fields}, **BASE}


async def call(url: str, name: str, body: Any, **headers: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/ilink/bot/{name}", json=body, headers={**HEADERS, **headers}) as response,
    ):
        return int((await response.json())["ret"])


@pytest.mark.parametrize(
    ("name", "body", "headers", "code"),
    [
        ("sendmessage", text_message(), {"Authorization": "Bearer old"}, -14),
        ("getupdates", BASE, {"Authorization": ""}, -14),
        ("sendmessage", text_message(), {"X-WECHAT-UIN": "no base64"}, -3),
        ("sendmessage", text_message(), {"iLink-App-Id": "other"}, -3),
        ("sendmessage", {"msg": text_message()["msg"]}, {}, -1),
        ("sendmessage", text_message(context_token="unknown"), {}, -2),
        ("sendmessage", text_message(to_user_id="another"), {}, -2),
        ("sendmessage", text_message(message_state=1), {}, -1),
        ("sendmessage", text_message(item_list=[]), {}, -1),
        ("sendmessage", text_message(item_list=[{"type": 1, "text_item": {"text": "x" * 4001}}]), {}, -1),
        ("sendmessage", text_message(extra=1), {}, -1),
        ("getuploadurl", {"filekey": "k", **BASE}, {}, -1),
        ("sendtyping", {"ilink_user_id": ANN, "typing_ticket": "none", "status": 1, **BASE}, {}, -1),
        ("nothing", BASE, {}, -1),
    ],
)
async def test_a_wrong_call_is_refused(
    simulator: WechatSimulator, gateway: str, name: str, body: Any, headers: dict[str, str], code: int
) -> None:
    simulator.message(ANN)
    assert await call(gateway, name, body, **headers) == code
    assert not simulator.sent()


async def test_a_used_up_context_is_refused(simulator: WechatSimulator, gateway: str) -> None:
    context = simulator.message(ANN)["context_token"]
    codes = [await call(gateway, "sendmessage", text_message(context_token=context)) for _ in range(11)]
    assert codes == [0] * 10 + [-2]


async def test_an_upload_that_was_not_announced_is_refused(simulator: WechatSimulator, gateway: str) -> None:
    address = f"{gateway}/c2c/upload?encrypted_query_param=x&filekey=y"
    async with aiohttp.ClientSession() as session, session.post(address, data=b"x" * 16) as response:
        assert response.status == 400
    assert not simulator.files.stored
