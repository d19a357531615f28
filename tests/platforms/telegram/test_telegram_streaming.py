"""Tests streamed answers on Telegram: as a draft in private chats, by edits in groups, complete in
the end, never twice.
"""

import asyncio
import json
import time
from typing import Any

import pytest

from parlour.testing.telegram_simulator import Simulator, native
from tests.platforms.onebot11.qq import to_agent
from tests.support.harness import Json

from .conftest import WRITING
from .tg import Telegram

ANN, GROUP = 1, -1001
WORDS = " ".join(f"word{number}" for number in range(150))


@pytest.fixture(scope="session")
def writing(tg: Telegram) -> str:
    return tg.host.agent(WRITING, "writing")


def telegram(drafts: bool = True) -> Simulator:
    simulator = Simulator()
    simulator.world.has_drafts = drafts
    simulator.world.add_group(GROUP)
    simulator.world.add_member(GROUP, ANN)
    return simulator


async def ask(simulator: Simulator, text: str, chat: int = 0, **how: Any) -> Json:
    options = json.dumps({"text": text, **how})
    if not chat:
        return await simulator.say(options, ANN)
    name = f"@{simulator.world.bot['username']}"
    return await simulator.say(f"{name} {options}", ANN, chat, entities=native.mention(f"{name} ", name))


async def test_a_private_answer_grows_as_a_draft_and_is_sent_once(tg: Telegram, writing: str) -> None:
    simulator = telegram()
    async with tg.bot(to_agent(writing), simulator):
        await ask(simulator, f"<think>hm</think>**Bold** {WORDS}", pause=0.06)
        [shown] = await simulator.answered(1, ANN)
        drafts = list(simulator.world.drafts)
    assert shown.text == f"Bold {WORDS}"
    assert shown.versions == [shown.text]
    assert [each["type"] for each in shown.message["entities"]] == ["bold"]
    assert len(drafts) >= 2
    assert len({each["draft_id"] for each in drafts}) == 1
    assert [len(each["text"]) for each in drafts] == sorted(len(each["text"]) for each in drafts)
    assert all(shown.text.startswith(each["text"]) for each in drafts[1:])


@pytest.mark.long
async def test_a_groups_answer_grows_by_edits_of_one_message(tg: Telegram, writing: str) -> None:
    simulator = telegram()
    async with tg.bot(to_agent(writing), simulator):
        await ask(simulator, WORDS, GROUP, pause=0.16)
        await simulator.until(lambda: simulator.texts(GROUP) == [WORDS])
        [shown] = simulator.sent(GROUP)
    assert len(shown.versions) >= 2
    assert WORDS.startswith(shown.versions[0])
    assert simulator.world.drafts == []
    assert simulator.faults.refused == 0


@pytest.mark.long
async def test_a_thousand_tokens_are_edits_of_as_few_messages_as_possible(tg: Telegram, writing: str) -> None:
    simulator, answer = telegram(), "token " * 999 + "token"
    async with tg.bot(to_agent(writing), simulator):
        await ask(simulator, answer, GROUP, piece=60, pause=0.2)
        await simulator.until(lambda: " ".join(simulator.texts(GROUP)) == answer, seconds=60)
    assert len(simulator.world.sent) == 2, "a message holds 4,096 characters"
    assert simulator.faults.refused == 0


async def test_a_private_answer_grows_by_edits_if_drafts_are_not_supported(tg: Telegram, writing: str) -> None:
    simulator = telegram(drafts=False)
    async with tg.bot(to_agent(writing), simulator):
        await ask(simulator, WORDS, pause=0.05)
        await simulator.until(lambda: simulator.texts(ANN) == [WORDS])
        [shown] = simulator.sent(ANN)
    assert len(shown.versions) >= 2


async def test_a_bot_without_streaming_shows_the_complete_answer_only(tg: Telegram, writing: str) -> None:
    simulator = telegram()
    async with tg.bot(to_agent(writing), simulator, enable_stream_reply=False):
        await ask(simulator, WORDS, pause=0.01)
        [shown] = await simulator.answered(1, ANN)
    assert shown.versions == [WORDS]
    assert simulator.world.drafts == []


@pytest.mark.long
@pytest.mark.parametrize("chat", [ANN, GROUP])
async def test_a_storm_of_429_does_not_change_the_final_text(tg: Telegram, writing: str, chat: int) -> None:
    simulator = telegram(drafts=chat == ANN)
    for method in ("sendMessage", "sendMessageDraft", "editMessageText"):
        simulator.faults.too_many(method, times=3)
    async with tg.bot(to_agent(writing), simulator):
        await ask(simulator, WORDS, 0 if chat == ANN else chat, pause=0.05)
        await simulator.until(lambda: simulator.texts(chat) == [WORDS], seconds=60)
    assert len(simulator.world.sent) == 1


@pytest.mark.quiet
@pytest.mark.parametrize("drafts", [True, False])
async def test_the_first_words_are_shown_within_300_ms(tg: Telegram, writing: str, drafts: bool) -> None:
    simulator = telegram(drafts)
    async with tg.bot(to_agent(writing), simulator):
        await ask(simulator, "warm", 0)
        await simulator.answered(1)
        await asyncio.sleep(1.1)  # the chat's own pace is not measured
        asked_at = time.monotonic()
        await ask(simulator, WORDS, pause=0.1)
        seen = simulator.world.drafts if drafts else simulator.world.sent
        before = len(seen)
        await simulator.until(lambda: len(seen) > before)
        assert time.monotonic() - asked_at < 0.3
