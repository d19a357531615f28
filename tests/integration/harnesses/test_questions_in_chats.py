"""Tests that people in a chat decide what a coding agent may do: by buttons on Telegram, by keywords on OneBot."""

import asyncio
import os
import time

import pytest

from parlour.testing.onebot_simulator import Simulator as OneBotSimulator
from parlour.testing.telegram_simulator import SentMessage, Simulator, native
from tests.integration.harnesses.conftest import ACP_ID, MakeAgent, open_host
from tests.platforms.onebot11.acting import ASK, mention_bot
from tests.platforms.onebot11.acting import BOSS as QQ_BOSS
from tests.platforms.onebot11.acting import GROUP as QQ_GROUP
from tests.platforms.onebot11.qq import QQ, eventually, to_agent
from tests.platforms.telegram.tg import Telegram
from tests.support.harness import Host, Json
from tests.support.rogue import sleepers

ANN, BOSS = 1, 2
GROUP = -1001


def group() -> Simulator:
    simulator = Simulator()
    simulator.world.add_group(GROUP, bot_status="administrator")
    simulator.world.add_member(GROUP, BOSS, "administrator")
    simulator.world.add_member(GROUP, ANN)
    return simulator


async def mention(simulator: Simulator, text: str, user: int = ANN) -> None:
    name = f"@{simulator.world.bot['username']}"
    await simulator.say(f"{name} {text}", user, GROUP, entities=native.mention(f"{name} ", name))


async def question(simulator: Simulator, count: int = 1) -> SentMessage:
    def asked() -> list[SentMessage]:
        return [each for each in simulator.sent(GROUP) if each.buttons]

    await simulator.until(lambda: len(asked()) >= count, seconds=60)
    return asked()[-1]


def approvals(host: Host, agent_id: str) -> list[Json]:
    return [each for each in host.items("/approvals") if each["agent_id"] == agent_id]


async def test_buttons_in_a_telegram_group_allow_once_for_good_or_not(acp_host: Host, scripted: MakeAgent) -> None:
    simulator, tg = group(), Telegram(acp_host)
    agent = scripted(approval_policy={"decision": "ask"}, allow_always=True)
    async with tg.bot(to_agent(agent), simulator):
        await mention(simulator, "write a.txt")
        asked = await question(simulator)
        assert [each["text"] for each in asked.buttons] == ["Approve", "Always", "Deny"]
        assert "Write a.txt" in asked.text
        assert "+written" in asked.text
        assert "All edits from now on" in asked.text
        await simulator.press(asked, "Approve", ANN)
        await simulator.until(lambda: any("you may not decide this" in text for text in simulator.texts(GROUP)))
        await simulator.press(asked, "Always", BOSS)
        await simulator.until(lambda: "a.txt: a" in simulator.texts(GROUP), seconds=60)
        await simulator.until(lambda: not asked.buttons)

        await mention(simulator, "write b.txt")
        await simulator.press(await question(simulator), "Deny", BOSS)
        await simulator.until(lambda: "b.txt: allow" in simulator.texts(GROUP), seconds=60)
    [denied, allowed] = approvals(acp_host, agent)
    assert (allowed["status"], allowed["outcome"], allowed["decided_by"]) == (
        "approved",
        {"always": True},
        f"user:{BOSS}",
    )
    assert denied["status"] == "denied"


async def test_a_keyword_in_a_onebot_group_allows_once(acp_host: Host, scripted: MakeAgent) -> None:
    qq, simulator = QQ(acp_host), OneBotSimulator()
    simulator.world.add_group(QQ_GROUP, role="admin")
    agent = scripted(approval_policy=ASK)
    bot = qq.bot(to_agent(agent))
    async with bot.connected(simulator):
        await mention_bot(simulator, "write a.txt")
        await simulator.answered(1)
        [asked] = approvals(acp_host, agent)
        assert "always" not in simulator.sent()[0].text
        await mention_bot(simulator, f"approve {asked['keyword']}", QQ_BOSS)
        await eventually(lambda: any("a.txt: b" in each.text for each in simulator.sent()), "the file is written", 60)
    bot.delete()
    assert approvals(acp_host, agent)[0]["decided_by"] == f"user:{QQ_BOSS}"


@pytest.mark.long
async def test_after_a_kill_of_the_host_a_question_can_not_be_decided_and_the_session_goes_on(
    tmp_path_factory: pytest.TempPathFactory, scripted: MakeAgent
) -> None:
    host = open_host(tmp_path_factory.mktemp("killed")).start()
    simulator, tg = group(), Telegram(host)
    agent = scripted(host, approval_policy={"decision": "ask"})
    unique = f"86400.{time.time_ns()}{os.getpid()}"
    try:
        async with tg.bot(to_agent(agent), simulator):
            await mention(simulator, "first")
            await simulator.until(lambda: "first" in simulator.texts(GROUP), seconds=60)
            await mention(simulator, "write a.txt")
            asked = await question(simulator)
            data = asked.buttons[0]["callback_data"]
            await simulator.press(asked, "Approve", ANN)
            await simulator.until(lambda: any("you may not decide this" in text for text in simulator.texts(GROUP)))

            await asyncio.to_thread(host.kill)
            await asyncio.to_thread(host.start)
            await simulator.until(lambda: not asked.buttons, seconds=60)
            assert "no longer waiting" in asked.text
            await simulator.press_data(asked, data, BOSS)
            await simulator.until(lambda: any("too late" in text for text in simulator.texts(GROUP)))
            assert approvals(host, agent)[0]["reason"] == "the agent is no longer waiting"

            await mention(simulator, "about")
            await simulator.until(lambda: any("3 messages, mode default" in text for text in simulator.texts(GROUP)))

            await mention(simulator, f"run {unique}")
            await simulator.until(lambda: bool(sleepers(unique)), seconds=60)
            host.plugin_process(ACP_ID).kill()
            await simulator.until(lambda: not sleepers(unique), seconds=60)
    finally:
        host.close()
