"""Tests that discord.py, unmodified, works with the simulator as with Discord, so that it is valid evidence."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.testing.discord_simulator import DiscordSimulator
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "discord" / "bin" / "python"
BOT = Path(__file__).with_name("discord_py_bot.py")
START_SECONDS = 90.0


@contextmanager
def library(folder: Path, address: str, token: str) -> Iterator[None]:
    assert PYTHON.exists(), "discord.py is not installed; run: make peers"
    with (folder / "bot.log").open("wb") as log:
        process = subprocess.Popen([PYTHON, BOT, address, token], stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[DiscordSimulator]:
    simulator = DiscordSimulator()
    simulator.world.add_guild()
    async with simulator.listening() as address:
        with library(tmp_path, address, simulator.token):
            await simulator.until(lambda: simulator.gateway.active is not None, START_SECONDS)
            yield simulator


async def test_discord_py_receives_and_sends_through_the_simulator(simulator: DiscordSimulator) -> None:
    world = simulator.world
    [guild] = world.guilds.values()
    general, ann = guild.payload["system_channel_id"], world.add_user("Ann")
    world.add_member(guild.payload["id"], ann)

    said = await simulator.say("grüße 👋", ann, general)
    [reply] = await simulator.answered(1, general)
    assert reply.text == "you said: grüße 👋"
    assert reply.payload["referenced_message"]["id"] == said["id"]
    await simulator.until(lambda: (said["id"], "👍", world.bot["id"]) in world.reactions)

    await simulator.say("!files", ann, general)
    *_, files = await simulator.answered(2, general)
    assert (files.files, files.payload["embeds"][0]["title"]) == ([b"hello", b"2"], "A card")

    request = await simulator.say("!buttons", ann, general)
    await simulator.until(lambda: (request["id"], "✅", world.bot["id"]) in world.reactions)
    *_, asked = simulator.sent(general)
    interaction = await simulator.press(asked.payload, "Yes", ann)
    await simulator.until(lambda: bool(interaction.responses))
    assert interaction.responses[0]["type"] == 7
    assert interaction.responses[0]["data"]["content"] == "ann pressed Yes"

    reaction = {
        "user_id": ann["id"], "channel_id": general, "guild_id": guild.payload["id"], "message_id": said["id"],
        "emoji": {"id": None, "name": "🎉"}, "burst": False, "type": 0,
    }  # fmt: skip
    await simulator.report("MESSAGE_REACTION_ADD", reaction)
    assert (await simulator.answered(4, general))[-1].text == "reaction 🎉"

    bob = world.add_user("Bob")
    member = world.add_member(guild.payload["id"], bob)
    await simulator.report("GUILD_MEMBER_ADD", {"guild_id": guild.payload["id"], **member})
    assert (await simulator.answered(5, general))[-1].text == "welcome Bob"


async def test_discord_py_understands_refusals_limits_and_cuts(simulator: DiscordSimulator) -> None:
    world = simulator.world
    [guild] = world.guilds.values()
    general, ann = guild.payload["system_channel_id"], world.add_user("Ann")
    world.add_member(guild.payload["id"], ann)

    await simulator.say("!errors", ann, general)
    [report] = await simulator.answered(1, general)
    assert report.text.splitlines() == [
        "HTTPException 50035",
        "HTTPException 50006",
        "HTTPException 50035",
        "NotFound 10008",
        "NotFound 10013",
        "NotFound 10003",
        "Forbidden 50005",
        "NotFound 10008",
    ]
    await simulator.say("!limits", ann, general)
    shown = await simulator.answered(8, general, seconds=60)
    assert [each.text for each in shown[1:]] == [f"message {number}" for number in range(7)]

    simulator.cut()
    await simulator.until(lambda: simulator.gateway.resumed == 1, 60)
    assert (await simulator.answered(9, general, seconds=60))[-1].text == "resumed"
