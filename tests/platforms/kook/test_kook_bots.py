"""Tests a KOOK bot through the whole Host: an approval by a button that survives a kill of the Host."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from parlour.testing.kook_simulator import KookSimulator
from parlour.testing.kook_simulator.world import BOT_ID
from tests.platforms.conftest import FIXTURES
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.telegram.conftest import ACTING
from tests.support.harness import NO_RUN_LIMITS, Host

ASK = {"member.*": {"decision": "ask"}}
ANN, BOSS, EVE, GUILD, CHANNEL = "28629", "28630", "28631", "6016", "6186"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(FIXTURES / "acting_agent.py")
    host.start()
    yield host
    host.close()


@asynccontextmanager
async def kook_bot(host: Host, simulator: KookSimulator, agent_id: str) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        config = {"token": simulator.token, "api_base_url": url}
        made = host.http().post("/bots", json={"name": "kook", "adapter": "kook", "adapter_config": config})
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


@pytest.mark.long
async def test_a_pressed_button_decides_for_an_authorized_user_after_a_kill(own: Host) -> None:
    simulator = KookSimulator()
    world = simulator.world
    for user_id, name in ((ANN, "Ann"), (BOSS, "Boss"), (EVE, "Eve")):
        world.add_user(name, user_id)
    world.add_guild("The Server", GUILD, BOSS, ANN, EVE)
    world.add_channel(GUILD, "talk", CHANNEL)
    async with kook_bot(own, simulator, own.agent(ACTING, "acting", approval_policy=ASK)):
        request = json.dumps([["member.kick", {"user_id": EVE}, None, 0]])
        mention = {"mention": [BOT_ID], "mention_part": [{"id": BOT_ID, "username": "Parlour"}]}
        content = f"(met){BOT_ID}(met) {request}".replace("[", "\\[").replace("]", "\\]")
        await simulator.say("GROUP", CHANNEL, ANN, content, **mention)
        await simulator.until(lambda: any(each.buttons for each in simulator.sent()))
        question = next(each for each in simulator.sent() if each.buttons)
        await simulator.press(question, "Approve", ANN)
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts()))
        await asyncio.to_thread(own.kill)
        await simulator.press(question, "Approve", BOSS)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: EVE not in world.members[GUILD])
        await simulator.until(lambda: question.buttons == [])
    assert "pproved" in question.text
