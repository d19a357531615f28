"""Tests the calls of Feishu: encryption, signature, age, mutations, the question about the address, and store apps."""

import json
import logging
import random
from collections.abc import AsyncIterator

import pytest

from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.lark.configuration import problems
from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.lark_simulator.simulator import APP_TICKET, VERIFICATION_TOKEN, encrypt

from .conftest import ANN, GROUP, Bot

MUTATIONS = 1000


@pytest.fixture
async def hooked(simulator: LarkSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url, mode="webhook").served() as bot:
        yield bot


def message(bot: Bot, text: str = "hello 👋") -> dict[str, object]:
    written = bot.simulator.world.write(GROUP, ANN, "text", {"text": text})
    return bot.simulator.event("im.message.receive_v1", bot.simulator.received(written))


async def test_the_address_is_confirmed_with_and_without_encryption(
    hooked: Bot, simulator: LarkSimulator, url: str
) -> None:
    question = {"challenge": "ajls384", "token": VERIFICATION_TOKEN, "type": "url_verification"}
    body = json.dumps({"encrypt": encrypt(simulator.encrypt_key, json.dumps(question).encode())}).encode()
    assert await hooked.adapter.hook(HookCall(body)) == HookResponse.json({"challenge": "ajls384"})
    async with Bot(simulator, url, mode="webhook", encrypt_key="").served() as plain:
        assert await plain.adapter.hook(HookCall(json.dumps(question).encode())) == HookResponse.json(
            {"challenge": "ajls384"}
        )
        wrong = json.dumps({**question, "token": "another"}).encode()
        assert (await plain.adapter.hook(HookCall(wrong))).status == 401


async def test_an_event_is_stored_before_it_is_acknowledged(hooked: Bot) -> None:
    body, headers = hooked.simulator.callback(message(hooked))
    for _ in range(2):  # a repeated call is acknowledged again
        assert await hooked.adapter.hook(HookCall(body, headers)) == HookResponse.json({})
    assert hooked.texts() == ["hello 👋"] * 2
    assert len({each.event.event_id for each in hooked.link.incoming}) == 1


async def test_calls_that_are_not_from_feishu_are_refused(hooked: Bot) -> None:
    report = message(hooked)
    body, headers = hooked.simulator.callback(report)
    other_body, other_headers = hooked.simulator.callback(report, key="another key")
    wrong_token = hooked.simulator.callback({**report, "header": {"token": "no"}})
    calls = [
        HookCall(body),
        HookCall(body, {**headers, "x-lark-signature": "0" * 64}),
        HookCall(body, {**headers, "x-lark-request-nonce": "other"}),
        HookCall(body, {**headers, "x-lark-request-timestamp": "now"}),
        HookCall(other_body, other_headers),
        HookCall(*hooked.simulator.callback(report, age=400)),
        HookCall(*hooked.simulator.callback(report, age=-4000)),
        HookCall(*wrong_token),
        HookCall(json.dumps(report).encode(), headers),
        HookCall(b"\xff no json", headers),
        HookCall(b"", headers),
    ]
    assert [(await hooked.adapter.hook(call)).status for call in calls] == [401] * len(calls)
    assert hooked.link.incoming == []


async def test_a_thousand_mutated_calls_are_refused_without_a_trace_in_the_log(
    hooked: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    body, headers = hooked.simulator.callback(message(hooked))
    generator = random.Random(11)
    for _ in range(MUTATIONS):
        changed = bytearray(body)
        for _ in range(generator.randint(1, 3)):
            changed[generator.randrange(len(changed))] ^= generator.randint(1, 255)
        assert (await hooked.adapter.hook(HookCall(bytes(changed), headers))).status == 401
    assert hooked.link.incoming == []
    assert [each for each in caplog.records if each.name.startswith("parlour")] == []


async def test_a_store_app_uses_the_ticket_and_a_token_for_each_tenant(simulator: LarkSimulator, url: str) -> None:
    config = {"mode": "webhook", "app_type": "store"}
    async with Bot(simulator, url, **config).served() as bot:
        await simulator.until(lambda: simulator.tickets_asked == 1)
        event = {"type": "app_ticket", "app_id": "cli", "app_ticket": APP_TICKET}
        report = {"uuid": "1", "event": event, "token": VERIFICATION_TOKEN, "ts": "1", "type": "event_callback"}
        assert (await bot.adapter.hook(HookCall(*simulator.callback(report)))).status == 200
        assert bot.link.stored_cursor is not None
        assert APP_TICKET not in bot.link.stored_cursor
        for tenant in ("tenant1", "tenant2"):
            written = simulator.world.write(GROUP, ANN, "text", {"text": f"from {tenant}"})
            event = simulator.event("im.message.receive_v1", simulator.received(written), tenant)
            assert (await bot.adapter.hook(HookCall(*simulator.callback(event)))).status == 200
        assert [each.account for each in bot.link.incoming] == ["tenant1", "tenant2"]
        await bot.adapter.api("tenant2").get_user_info(ANN)
        assert set(simulator.tokens.values()) == {"tenant1", "tenant2"}
    again = Bot(simulator, url, **config)
    again.link.stored_cursor = bot.link.stored_cursor
    async with again.served():
        assert (await again.adapter.api("tenant1").get_user_info(ANN)).nickname == "Ann"
    assert simulator.tickets_asked == 1


async def test_a_bot_with_a_long_connection_is_not_called(bot: Bot) -> None:
    assert (await bot.adapter.hook(HookCall(b"{}"))).status == 404


async def test_a_bot_without_key_and_token_can_not_be_called(simulator: LarkSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="encrypt_key"):
        Bot(simulator, url, mode="webhook", encrypt_key="", verification_token="")


def test_the_form_names_what_each_mode_needs() -> None:
    assert problems({"mode": "long_connection"}) == []
    assert [field for field, _ in problems({"mode": "webhook"})] == ["encrypt_key"]
    assert [field for field, _ in problems({"mode": "long_connection", "app_type": "store"})] == ["mode"]
