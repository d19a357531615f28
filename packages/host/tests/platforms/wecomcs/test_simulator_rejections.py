"""Tests that the simulated customer service rejects what WeCom rejects."""

from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.testing.wecomcs_simulator import WecomCsSimulator
from parlour.testing.wecomcs_simulator.simulator import ACCOUNT, CORP, SECRET

ITEM = {"type": "click", "click": {"id": "a", "content": "b"}}


async def token(url: str) -> str:
    query = {"corpid": CORP, "corpsecret": SECRET}
    async with ClientSession() as session, session.get(f"{url}/gettoken", params=query) as response:
        return str((await response.json())["access_token"])


async def post(url: str, path: str, body: Any) -> int:
    query = {"access_token": await token(url)}
    async with ClientSession() as session, session.post(f"{url}/kf/{path}", params=query, json=body) as response:
        return int((await response.json())["errcode"])


def message(kind: str = "text", content: Any = None, **fields: Any) -> dict[str, Any]:
    target = {"touser": "wmAnn", "open_kfid": ACCOUNT}
    return {**target, "msgtype": kind, kind: content or {"content": "x"}, **fields}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (message(), 0),
        (message(touser="wmNobody"), 95001),
        (message(open_kfid="wkOther"), 95000),
        (message(msgid="x" * 33), 40058),
        (message(msgid="a b"), 40058),
        (message(content={"content": "x" * 2049}), 45002),
        (message(content={"content": " "}), 44004),
        (message("image", {"media_id": "no"}), 40007),
        (message("link", {"title": "x"}), 40008),
        (message(other=1), 40058),
        (message("location", {"latitude": 1}), 40058),
        (message("msgmenu", {"list": []}), 40058),
        (message("msgmenu", {"list": [ITEM] * 11}), 40058),
        (message("msgmenu", {"list": [{"type": "click", "click": {"id": "x" * 129, "content": "b"}}]}), 40058),
        (message("msgmenu", {"list": [ITEM]}), 0),
    ],
)
async def test_an_invalid_message_is_rejected(simulator: WecomCsSimulator, url: str, body: Any, code: int) -> None:
    simulator.add(simulator.message("wmAnn", "text", content="hello"))
    assert await post(url, "send_msg", body) == code
    assert len(simulator.sent()) == (0 if code else 1)


async def test_fetching_without_a_token_is_limited(simulator: WecomCsSimulator, url: str) -> None:
    codes = [await post(url, "sync_msg", {"open_kfid": ACCOUNT}) for _ in range(11)]
    assert codes == [0] * 10 + [45009]


async def test_a_welcome_code_is_valid_once(simulator: WecomCsSimulator, url: str) -> None:
    await simulator.enter("wmAnn")
    [code] = simulator.welcome_codes
    body = {"code": code, "msgtype": "text", "text": {"content": "Welcome"}}
    assert [await post(url, "send_msg_on_event", body) for _ in range(2)] == [0, 40058]
