"""Tests Discord bots through the whole Host: streamed answers, approvals by buttons, files, threads, and restarts."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from parlour.testing.discord_simulator import DiscordSimulator, SentDiscordMessage
from parlour.testing.discord_simulator.world import BOT_ID, THREAD
from tests.platforms.conftest import FIXTURES
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.telegram.conftest import ACTING, WRITING, WRITING_PLUGIN
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

WORDS = " ".join(f"word{number}" for number in range(60))
ASK = {"member.*": {"decision": "ask"}}


class DiscordServer:
    """A simulated server with an owner, a member and the bot."""

    def __init__(self) -> None:
        self.simulator = DiscordSimulator()
        world = self.simulator.world
        self.guild = world.add_guild()
        self.id = self.guild.payload["id"]
        self.general = self.guild.payload["system_channel_id"]
        self.ann, self.boss, self.eve = (world.add_user(name) for name in ("Ann", "Boss", "Eve"))
        self.guild.payload["owner_id"] = self.boss["id"]
        for user in (self.ann, self.boss, self.eve):
            world.add_member(self.id, user)

    async def ask(self, text: str, channel: str = "") -> Json:
        mention = {"mentions": [self.simulator.world.bot]}
        return await self.simulator.say(f"<@{BOT_ID}> {text}", self.ann, channel or self.general, **mention)


@asynccontextmanager
async def discord_bot(host: Host, server: DiscordServer, agent_id: str) -> AsyncIterator[str]:
    async with server.simulator.listening() as url:
        config = {"token": server.simulator.token, "api_base_url": url}
        made = host.http().post("/bots", json={"name": "discord", "adapter": "discord", "adapter_config": config})
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


async def test_an_answer_in_a_thread_grows_by_edits_of_one_message(platform_host: Host) -> None:
    server = DiscordServer()
    thread = server.simulator.world.add_channel(server.id, "a thread", THREAD, server.general)["id"]
    async with discord_bot(platform_host, server, platform_host.agent(WRITING, "writing")):
        await server.ask(json.dumps({"text": WORDS, "piece": 60, "pause": 0.4}), thread)
        await server.simulator.until(lambda: server.simulator.texts(thread) == [WORDS])
    [shown] = server.simulator.sent(thread)
    assert len(shown.versions) >= 3
    assert all(WORDS.startswith(each) for each in shown.versions)
    assert server.simulator.rest.rates.refused == 0


async def test_a_received_file_reaches_the_agent_and_is_sent_back(platform_host: Host) -> None:
    server, content = DiscordServer(), b"a small file"
    async with discord_bot(
        platform_host, server, platform_host.agent(ACTING, "acting", approval_policy={"*": "allow"})
    ):
        chain = [{"type": "File", "base64": base64.b64encode(content).decode(), "name": "a.txt"}]
        await server.ask(json.dumps([["message.send", None, {"chain": chain}, 5]]))
        await server.simulator.until(lambda: any(each.files for each in server.simulator.sent(server.general)))
    [sent] = [each for each in server.simulator.sent(server.general) if each.files]
    assert sent.files == [content]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, FIXTURES / "acting_agent.py", WRITING_PLUGIN):
        host.install(plugin)
    host.start()
    yield host
    host.close()


async def test_a_pressed_button_is_acknowledged_in_time_and_decides_after_a_kill(own: Host) -> None:
    server = DiscordServer()
    simulator = server.simulator
    async with discord_bot(own, server, own.agent(ACTING, "acting", approval_policy=ASK)):
        await server.ask(json.dumps([["member.kick", {"user_id": server.eve["id"]}, None, 0]]))
        question = await question_of(server)
        stranger = await simulator.press(question.payload, "Approve", server.ann)
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts()))
        await simulator.until(lambda: bool(stranger.responses))
        await asyncio.to_thread(own.kill)
        pressed = await simulator.press(question.payload, "Approve", server.boss)
        pressed.pressed_at += 3600  # the user waits for the Host
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: server.eve["id"] not in server.guild.members)
        await simulator.until(lambda: question.payload["components"] == [])
        assert [each["type"] for each in (*stranger.responses, *pressed.responses)] == [6, 6]
    assert "pproved" in question.text


async def question_of(server: DiscordServer) -> SentDiscordMessage:
    simulator = server.simulator
    await simulator.until(lambda: any(each.payload["components"] for each in simulator.sent()))
    return next(each for each in simulator.sent() if each.payload["components"])


@pytest.mark.long
async def test_messages_around_kills_are_answered_once(own: Host) -> None:
    server = DiscordServer()
    simulator, texts = server.simulator, [f"message {number}" for number in range(60)]
    simulator.rest.limits["send"] = (1000.0, 1.0)
    async with discord_bot(own, server, own.agent(ECHO, "echo")):
        for number, text in enumerate(texts):
            await simulator.say(text, server.ann, simulator.world.direct_channel(server.ann["id"])["id"])
            if number % 15 == 7:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
        direct = simulator.world.direct_channel(server.ann["id"])["id"]
        await simulator.until(lambda: set(texts) <= set(simulator.texts(direct)), 60)
    answers = [each for each in simulator.texts(direct) if each in texts]
    assert sorted(answers) == sorted(texts)
    assert simulator.gateway.identified == 1
