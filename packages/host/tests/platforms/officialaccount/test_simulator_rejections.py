"""Tests that the simulated WeChat rejects what WeChat rejects."""

from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.testing.errcode_simulator import ErrcodeRefusal
from parlour.testing.officialaccount_simulator import OfficialAccountSimulator
from parlour.testing.officialaccount_simulator.checks import check_passive
from parlour.testing.officialaccount_simulator.simulator import APP_ID, APP_SECRET

from .conftest import ANN

ARTICLE = {"title": "A", "url": "https://example.org"}


async def token(url: str, **fields: Any) -> Any:
    body = {"grant_type": "client_credential", "appid": APP_ID, "secret": APP_SECRET, "force_refresh": False, **fields}
    async with ClientSession() as session, session.post(f"{url}/stable_token", json=body) as response:
        return await response.json()


async def send(url: str, body: Any) -> int:
    query = {"access_token": (await token(url))["access_token"]}
    async with ClientSession() as session:
        response = await session.post(f"{url}/message/custom/send", params=query, json=body)
        return int((await response.json())["errcode"])


def message(kind: str = "text", content: Any = None, **fields: Any) -> dict[str, Any]:
    return {"touser": ANN, "msgtype": kind, kind: content or {"content": "x"}, **fields}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (message(), 0),
        (message(touser="oNobody"), 45015),
        (message(content={"content": "x" * 2049}), 45002),
        (message(content={"content": " "}), 44004),
        (message("image", {"media_id": "no"}), 40007),
        (message("file", {"media_id": "no"}), 40008),
        (message(other=1), 40008),
        (message("news", {"articles": [ARTICLE] * 2}), 45008),
        (message("news", {"articles": [{"title": "A"}]}), 40058),
        (message("news", {"articles": [ARTICLE]}), 0),
    ],
)
async def test_an_invalid_message_is_rejected(
    simulator: OfficialAccountSimulator, url: str, body: Any, code: int
) -> None:
    simulator.calls.offline_attempts = 0
    await simulator.say("hello", ANN)
    assert await send(url, body) == code
    assert len(simulator.sent()) == (0 if code else 1)


@pytest.mark.parametrize(
    ("fields", "code"), [({"appid": "wx0"}, 40013), ({"secret": "x"}, 40125), ({"grant_type": "x"}, 40002)]
)
async def test_wrong_secrets_get_no_token(url: str, fields: Any, code: int) -> None:
    assert (await token(url, **fields))["errcode"] == code


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        ("<xml><CreateTime>1</CreateTime><MsgType>text</MsgType><Content> </Content></xml>", 44004),
        ("<xml><CreateTime>1</CreateTime><MsgType>file</MsgType></xml>", 40008),
        ("<xml><CreateTime>1</CreateTime><MsgType>image</MsgType><Image><MediaId>x</MediaId></Image></xml>", 40007),
    ],
)
def test_an_invalid_passive_reply_is_rejected(xml: str, code: int) -> None:
    with pytest.raises(ErrcodeRefusal) as refusal:
        check_passive(xml, OfficialAccountSimulator().find_media)
    assert refusal.value.code == code
