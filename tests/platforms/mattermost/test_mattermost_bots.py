"""Tests a Mattermost bot through the whole Host: a streamed answer in a thread, and an approval by a button."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from parlour.testing.mattermost_simulator import MattermostSimulator
from parlour.testing.mattermost_simulator.world import make_id
from tests.platforms.conftest import FIXTURES
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.telegram.conftest import ACTING, WRITING
from tests.support.harness import NO_RUN_LIMITS, Host

pytestmark = pytest.mark.long
WORDS = " ".join(f"word{number}" for number in range(60))
ASK = {"member.*": {"decision": "ask"}}
ANN, BOSS, EVE, CHANNEL = (make_id(name) for name in ("ann", "boss", "eve", "talk"))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(FIXTURES / "acting_agent.py")
    host.start()
    yield host
    host.close()


def server() -> MattermostSimulator:
    simulator = MattermostSimulator()
    for name in ("ann", "boss", "eve"):
        simulator.world.add_user(name)
    simulator.world.add_channel("talk", ANN, BOSS, EVE, channel_id=CHANNEL, admin=BOSS)
    return simulator


@asynccontextmanager
async def mattermost_bot(host: Host, simulator: MattermostSimulator, agent_id: str) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        config = {"token": simulator.token, "url": url, "public_url": host.address}
        made = host.http().post("/bots", json={"name": "mm", "adapter": "mattermost", "adapter_config": config})
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


async def test_an_answer_in_a_thread_grows_by_edits_of_one_post(platform_host: Host) -> None:
    simulator = server()
    async with mattermost_bot(platform_host, simulator, platform_host.agent(WRITING, "writing")):
        root = simulator.world.write(CHANNEL, ANN, "a thread")["id"]
        request = json.dumps({"text": WORDS, "piece": 60, "pause": 0.4})
        await simulator.say(CHANNEL, ANN, f"@parlour {request}", root_id=root)
        await simulator.until(lambda: simulator.texts(CHANNEL) == [WORDS])
    [shown] = simulator.sent(CHANNEL)
    assert shown.payload["root_id"] == root
    assert len(shown.versions) >= 3
    assert all(WORDS.startswith(each) for each in shown.versions)


async def test_a_pressed_button_decides_for_an_authorized_user_after_a_kill(own: Host) -> None:
    simulator = server()
    world = simulator.world
    async with mattermost_bot(own, simulator, own.agent(ACTING, "acting", approval_policy=ASK)) as bot_id:
        request = json.dumps([["member.kick", {"user_id": EVE}, None, 0]])
        await simulator.say(CHANNEL, ANN, f"@parlour {request}")
        await simulator.until(lambda: any(each.buttons for each in simulator.sent()))
        question = next(each for each in simulator.sent() if each.buttons)
        assert await simulator.press(question, "Approve", ANN) == 200
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts()))
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: simulator.gateway.connection is not None)
        bot = f"/bots/{bot_id}"
        await eventually(lambda: own.http().get(bot).json()["status"]["state"] == "connected", "online")
        for each in question.buttons:  # the restarted Host has another port
            each["integration"]["url"] = f"{own.address}/hooks/{bot_id}"
        assert await simulator.press(question, "Approve", BOSS) == 200
        await simulator.until(lambda: EVE not in world.members[CHANNEL])
        await simulator.until(lambda: question.buttons == [])
    assert "pproved" in question.text
