"""Tests the calls of QQ: the published example of the signature, genuine and forged calls."""

import json
import logging
import random
import time

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import AdapterStopped, IncomingEvent
from parlour.platforms._kit.webhooks import ed25519_seed, ed25519_sign
from parlour.testing.qqofficial_simulator import QQSimulator

from .conftest import ANN, Bot

EXAMPLE = (
    "87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d01bcfcadc0842edac85e85205028a1132"
    "afe09280305f13aa6909ffc2d652c706"
)


@pytest.fixture
async def called(simulator: QQSimulator, url: str) -> Bot:
    simulator.is_called = True
    return Bot(simulator, url, mode="webhook")


def test_the_published_example_has_this_signature() -> None:
    seed = ed25519_seed("DG5g3B4j9X2KOErG")
    assert ed25519_sign(seed, b"1725442341Arq0D5A61EgUu4OxUvOp") == EXAMPLE


async def test_the_address_is_checked_and_messages_are_acknowledged(called: Bot) -> None:
    async with called.served():
        assert await called.simulator.webhook.check()
        await called.hear("hello")
        await called.simulator.until(lambda: not called.simulator.webhook.waiting)


async def test_a_message_that_is_not_stored_is_called_again(called: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    receive, failures = called.link.receive, [StorageFailed("disk", "the disk is full")]

    async def failing_once(*incoming: IncomingEvent, cursor: str | None = None) -> None:
        if failures:
            raise failures.pop()
        await receive(*incoming, cursor=cursor)

    monkeypatch.setattr(called.link, "receive", failing_once)
    async with called.served():
        await called.hear("again")
    assert len(called.link.incoming) == 1


@pytest.mark.parametrize("number", [100, pytest.param(1000, marks=pytest.mark.long)])
async def test_mutated_calls_are_refused_without_a_line_in_the_log(
    called: Bot, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    generator, webhook = random.Random(27), called.simulator.webhook
    message = called.simulator.message("C2C_MESSAGE_CREATE", "", ANN, "forged")
    original = json.dumps({"op": 0, "t": "C2C_MESSAGE_CREATE", "d": message}).encode()

    def mutated() -> tuple[bytes, dict[str, str]]:
        headers, body = webhook.headers(original), bytearray(original)
        match generator.randrange(5):
            case 0:
                body[generator.randrange(len(body))] ^= 1 << generator.randrange(8)
            case 1:
                signature, place = headers["X-Signature-Ed25519"], generator.randrange(128)
                other = "0" if signature[place] != "0" else "1"
                headers["X-Signature-Ed25519"] = signature[:place] + other + signature[place + 1 :]
            case 2:
                headers["X-Signature-Timestamp"] = str(
                    int(headers["X-Signature-Timestamp"]) + generator.choice((-1, 1, 400))
                )
            case 3:
                headers.pop(generator.choice(("X-Signature-Ed25519", "X-Signature-Timestamp")))
            case _:
                headers["X-Bot-Appid"] = "102000002"
        return bytes(body), headers

    async with called.served():
        with caplog.at_level(logging.INFO):
            answers = {(await webhook.post(*mutated()))[0] for _ in range(number)}
    assert answers == {401}
    assert [record for record in caplog.records if record.name.startswith("parlour")] == []
    assert called.link.incoming == []


async def test_an_old_call_is_refused(called: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    async with called.served():
        body = b'{"op":0,"t":"FRIEND_ADD","d":{"openid":"x"}}'
        now = time.time()
        monkeypatch.setattr("parlour.testing.qqofficial_simulator.webhook.time.time", lambda: now - 400)
        headers = called.simulator.webhook.headers(body)
        monkeypatch.undo()
        assert (await called.simulator.webhook.post(body, headers))[0] == 401


async def test_a_wrong_secret_stops_the_bot(simulator: QQSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="secret: QQ does not accept it"):
        async with Bot(simulator, url, mode="webhook", secret="wrong").served():
            pass
