"""Tests that the simulated WeCom rejects what WeCom rejects."""

from typing import Any

import pytest
from aiohttp import ClientSession, FormData

from parlour.testing.wecom_simulator import WecomSimulator
from parlour.testing.wecom_simulator.simulator import AGENT, CORP, SECRET

BUTTON = {"text": "a", "key": "b"}
CARD = {
    "card_type": "button_interaction", "main_title": {"title": "x"}, "task_id": "t", "button_list": [BUTTON],
}  # fmt: skip


async def token(url: str) -> str:
    query = {"corpid": CORP, "corpsecret": SECRET}
    async with ClientSession() as session, session.get(f"{url}/gettoken", params=query) as response:
        return str((await response.json())["access_token"])


async def send(url: str, body: Any, **query: str) -> int:
    query = query or {"access_token": await token(url)}
    async with ClientSession() as session, session.post(f"{url}/message/send", params=query, json=body) as response:
        return int((await response.json())["errcode"])


def message(kind: str = "text", content: Any = None, **fields: Any) -> dict[str, Any]:
    return {"touser": "ann", "agentid": AGENT, "msgtype": kind, kind: content or {"content": "x"}, **fields}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (message(), 0),
        (message(touser="nobody"), 81013),
        (message(agentid="1000002"), 40056),
        (message(agentid=1), 301002),
        (message(content={"content": "x" * 2049}), 45002),
        (message(content={"content": " "}), 44004),
        (message("image", {"media_id": "no"}), 40007),
        (message("unknown"), 40008),
        (message(other=1), 40058),
        (message("news", {"articles": []}), 40058),
        (message("template_card", {**CARD, "task_id": "x" * 129}), 42049),
        (message("template_card", {**CARD, "button_list": [BUTTON] * 7}), 42048),
        (message("template_card", {**CARD, "main_title": {"title": "x" * 37}}), 42047),
        (message("template_card", {**CARD, "card_type": "other"}), 42046),
    ],
)
async def test_an_invalid_message_is_rejected(simulator: WecomSimulator, url: str, body: Any, code: int) -> None:
    assert await send(url, body) == code
    assert len(simulator.sent()) == (0 if code else 1)


async def test_a_missing_wrong_and_expired_token_is_rejected(simulator: WecomSimulator, url: str) -> None:
    assert await send(url, message(), access_token="") == 41001
    assert await send(url, message(), access_token="wrong") == 40014
    simulator.token_seconds = 0
    assert await send(url, message()) == 42001


@pytest.mark.parametrize(
    ("kind", "name", "data", "code"),
    [
        ("file", "a.bin", b"x" * 4, 40006),
        ("voice", "a.mp3", b"x" * 9, 40005),
        ("voice", "a.amr", b"x" * (2 * 2**20 + 1), 40009),
        ("other", "a.bin", b"x" * 9, 40004),
        ("image", "a.png", b"x" * 9, 0),
    ],
)
async def test_files_are_checked(url: str, kind: str, name: str, data: bytes, code: int) -> None:
    form = FormData()
    form.add_field("media", data, filename=name)
    query = {"access_token": await token(url), "type": kind}
    async with ClientSession() as session, session.post(f"{url}/media/upload", params=query, data=form) as response:
        assert (await response.json())["errcode"] == code


async def test_what_exceeds_the_limit_of_a_member_is_dropped_silently(simulator: WecomSimulator, url: str) -> None:
    for _ in range(31):
        assert await send(url, message()) == 0
    assert len(simulator.sent()) == 30
