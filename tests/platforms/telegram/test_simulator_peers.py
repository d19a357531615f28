"""Tests that an unmodified third-party Telegram library works with the simulator as with Telegram,
so it is valid evidence.
"""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.testing.telegram_simulator import Simulator, native

BOT = Path(__file__).with_name("ptb_bot.py")
ANN, GROUP, MOVED = 20002, -1001, -42


@contextmanager
def library(folder: Path, address: str, token: str) -> Iterator[None]:
    with (folder / "bot.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(BOT), address, token], stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[Simulator]:
    simulator = Simulator()
    world = simulator.world
    world.person(ANN, "Ann")
    world.person(13)
    world.blocked.add(13)
    world.add_group(GROUP, bot_status="administrator")
    world.add_group(MOVED)
    world.migrate(MOVED, -10042)
    world.add_file(b"x", file_id="large", size=21 * 2**20)
    async with simulator.listening() as address:
        with library(tmp_path, address, simulator.token):
            await simulator.until(lambda: simulator.updates.polls > 0, seconds=90)
            yield simulator


async def test_python_telegram_bot_receives_and_sends_through_the_simulator(simulator: Simulator) -> None:
    world = simulator.world
    await simulator.say("/start now", ANN, entities=[native.entity("bot_command", 0, 6)])
    [hello] = await simulator.answered(1, ANN)
    assert (hello.text, hello.message["entities"][0]["type"]) == ("hello now", "bold")
    assert hello.message["reply_to_message"]["text"] == "/start now"

    await simulator.press(hello, "Yes", ANN)
    await simulator.until(lambda: hello.versions == ["hello now", "you pressed yes"] and bool(world.answered_queries))
    assert world.answered_queries[0]["text"] == "got it"

    said = await simulator.say("grüße 👋", ANN)
    await simulator.until(lambda: (ANN, said["message_id"]) in world.reactions)
    assert simulator.texts(ANN)[-1] == "you said: grüße 👋"

    photo = {"file_id": world.add_file(b"a photo"), "file_unique_id": "u", "width": 1, "height": 1}
    await simulator.say(user=ANN, photo=[photo])
    *_, first, second = await simulator.answered(4, ANN)
    assert first.message["media_group_id"] == second.message["media_group_id"]
    assert [world.files[each.message["photo"][-1]["file_id"]].data for each in (first, second)] == [b"a photo"] * 2

    reaction = {"chat": world.chats[GROUP].about, "message_id": 1, "user": world.people[ANN], "date": native.now()}
    emoji = [{"type": "emoji", "emoji": "🎉"}]
    await simulator.report(message_reaction={**reaction, "old_reaction": [], "new_reaction": emoji})
    assert (await simulator.answered(1, GROUP))[-1].text == "reaction 🎉"

    bob = world.add_member(GROUP, 7)["user"]
    joined = native.changed(world.chats[GROUP].about, bob, native.member(bob, "left"), native.member(bob))
    await simulator.report(chat_member=joined)
    assert (await simulator.answered(2, GROUP))[-1].text == "welcome user 7, member"
    await understands_every_refusal(simulator)


async def understands_every_refusal(simulator: Simulator) -> None:
    simulator.faults.in_chat = simulator.faults.altogether = (100, 1.0)
    before = len(simulator.sent(ANN))
    await simulator.say("/trouble", ANN, entities=[native.entity("bot_command", 0, 8)])
    report = (await simulator.answered(before + 1, ANN))[-1]
    await simulator.until(lambda: len(report.versions) == 2)
    assert report.text.splitlines() == [
        "BadRequest: Message is not modified: specified new m",
        "BadRequest: Message is too long",
        "BadRequest: Can't parse entities: can't find end tag",
        "BadRequest: Chat not found",
        "Forbidden: Forbidden: bot was blocked by the user",
        "BadRequest: File is too big",
        "ChatMigrated",
    ]
    await simulator.say("/hurry", ANN, chat=GROUP, entities=[native.entity("bot_command", 0, 6)])
    await simulator.until(lambda: simulator.texts(ANN)[-1] == "RetryAfter")
