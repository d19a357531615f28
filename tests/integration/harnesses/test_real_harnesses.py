"""Tests Goose, Codex and Claude Code as their users install them, offline, against a scripted model."""

from collections.abc import Iterator

import pytest

from parlour.testing.onebot_simulator import Simulator as OneBotSimulator
from tests.integration.harnesses.real import SLOW, RealHarness, RealHarnessContract, open_real_host
from tests.integration.harnesses.test_questions_in_chats import BOSS, GROUP, approvals, group, mention, question
from tests.platforms.onebot11.acting import ASK, mention_bot
from tests.platforms.onebot11.acting import BOSS as QQ_BOSS
from tests.platforms.onebot11.acting import GROUP as QQ_GROUP
from tests.platforms.onebot11.qq import QQ, eventually, to_agent
from tests.platforms.telegram.tg import Telegram
from tests.support.harness import Host
from tests.support.harness_model.server import HarnessModel

NAMES = ("goose", "codex", "claude-code")

pytestmark = [pytest.mark.long, SLOW]


@pytest.fixture(scope="module")
def model() -> Iterator[HarnessModel]:
    with HarnessModel() as server:
        yield server


@pytest.fixture(scope="module")
def real_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = open_real_host(tmp_path_factory.mktemp("real"), *NAMES)
    yield host
    host.close()


def harness_of(host: Host, name: str, model: HarnessModel) -> RealHarness:
    return RealHarness(host, name, model, host.data.parent / "work")


class TestRealHarnesses(RealHarnessContract):
    @pytest.fixture(params=NAMES)
    def harness(self, request: pytest.FixtureRequest, real_host: Host, model: HarnessModel) -> RealHarness:
        return harness_of(real_host, request.param, model)

    @pytest.fixture(params=NAMES)
    def own_harness(
        self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: HarnessModel
    ) -> Iterator[RealHarness]:
        """Provides a coding agent on a Host that the test kills."""
        host = open_real_host(tmp_path_factory.mktemp("killed"), request.param)
        yield harness_of(host, request.param, model)
        host.close()


@pytest.mark.parametrize("name", ["goose", "claude-code"])
async def test_a_button_in_a_telegram_group_decides(real_host: Host, model: HarnessModel, name: str) -> None:
    simulator, tg = group(), Telegram(real_host)
    agent, folder = harness_of(real_host, name, model).agent(approval_policy={"decision": "ask"})
    async with tg.bot(to_agent(agent), simulator):
        await mention(simulator, f"script:write {folder}/a.txt")
        asked = await question(simulator)
        assert "a.txt" in asked.text
        await simulator.press(asked, "Approve", BOSS)
        await simulator.until(lambda: any("The tool says" in text for text in simulator.texts(GROUP)), seconds=120)
    assert (folder / "a.txt").read_text() == "written"
    assert approvals(real_host, agent)[0]["decided_by"] == f"user:{BOSS}"


@pytest.mark.parametrize("name", ["goose", "claude-code"])
async def test_a_keyword_in_a_onebot_group_decides(real_host: Host, model: HarnessModel, name: str) -> None:
    qq, simulator = QQ(real_host), OneBotSimulator()
    simulator.world.add_group(QQ_GROUP, role="admin")
    agent, folder = harness_of(real_host, name, model).agent(approval_policy=ASK)
    bot = qq.bot(to_agent(agent))
    async with bot.connected(simulator):
        await mention_bot(simulator, f"script:write {folder}/a.txt")
        await eventually(lambda: bool(approvals(real_host, agent)), "a question is open", 120)
        [asked] = approvals(real_host, agent)
        await mention_bot(simulator, f"approve {asked['keyword']}", QQ_BOSS)
        await eventually(lambda: any("The tool says" in each.text for each in simulator.sent()), "it has answered", 120)
    bot.delete()
    assert (folder / "a.txt").read_text() == "written"
    assert approvals(real_host, agent)[0]["decided_by"] == f"user:{QQ_BOSS}"
