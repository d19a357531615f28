"""Tests Telegram bots in a Host that is killed or stopped: streams, buttons, albums. No message is lost or repeated."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from parlour.testing.telegram_simulator import SentMessage, Simulator, native
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.support.harness import ECHO, ECHO_PLUGIN, Host, Json

from .conftest import ACTING, ACTING_PLUGIN, WRITING, WRITING_PLUGIN
from .test_telegram_delivery import photo
from .test_telegram_streaming import WORDS, ask, telegram
from .tg import Bot, Telegram

ANN, BOSS, EVE, STRANGER = 1, 2, 3, 4
GROUP = -1001
ASK = {"decision": "ask"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Telegram]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"))
    for plugin in (ECHO_PLUGIN, ACTING_PLUGIN, WRITING_PLUGIN):
        host.install(plugin)
    host.start()
    yield Telegram(host)
    host.close()


@pytest.mark.long
@pytest.mark.parametrize("end", ["kill", "stop"])
async def test_a_restart_in_mid_stream_is_reported_and_no_message_is_repeated(own: Telegram, end: str) -> None:
    simulator = telegram()
    async with own.bot(to_agent(own.host.agent(WRITING, "writing")), simulator):
        await ask(simulator, WORDS, stop=400)
        await ask(simulator, WORDS, GROUP, stop=400)
        await simulator.until(lambda: bool(simulator.world.drafts) and bool(simulator.sent(GROUP)))
        ending: Callable[[], None] = own.host.kill if end == "kill" else own.host.stop
        await asyncio.to_thread(ending)
        await asyncio.to_thread(own.host.start)
        await simulator.answered(1, ANN)
        await simulator.answered(2, GROUP)
    bubble, notice = simulator.texts(GROUP)
    assert bubble
    assert WORDS.startswith(bubble)
    assert notice.startswith("The answer was interrupted by a restart")
    assert simulator.texts(ANN) == [notice]


@pytest.mark.long
async def test_a_kill_before_the_last_edit_leaves_the_whole_text_in_the_same_message(own: Telegram) -> None:
    simulator = telegram()
    async with own.bot(to_agent(own.host.agent(WRITING, "writing")), simulator):
        await ask(simulator, "One two three", GROUP, piece=4, pause=0.2)
        await simulator.answered(1, GROUP)
        simulator.faults.stay_silent("editMessageText", happens=False)
        await simulator.until(lambda: "One two three" in edits(simulator))
        await asyncio.to_thread(own.host.kill)
        await asyncio.to_thread(own.host.start)
        await simulator.until(lambda: simulator.texts(GROUP) == ["One two three"])
        assert len(simulator.sent(GROUP)) == 1


def edits(simulator: Simulator) -> list[str]:
    return [each["text"] for each in simulator.made("editMessageText")]


def group() -> Simulator:
    simulator = Simulator()
    simulator.world.add_group(GROUP, bot_status="administrator")
    simulator.world.add_member(GROUP, BOSS, "administrator")
    for user in (ANN, EVE):
        simulator.world.add_member(GROUP, user)
    return simulator


async def request_kick(tg: Telegram, simulator: Simulator) -> SentMessage:
    """Lets Ann request that Eve is removed, and returns the question with its buttons."""
    name = f"@{simulator.world.bot['username']}"
    wanted = json.dumps([["member.kick", {"user_id": str(EVE)}, None, 0]])
    await simulator.say(f"{name} {wanted}", ANN, GROUP, entities=native.mention(f"{name} ", name))
    await simulator.until(lambda: any(each.buttons for each in simulator.sent(GROUP)))
    return next(each for each in simulator.sent(GROUP) if each.buttons)


def agent(tg: Telegram) -> str:
    return tg.host.agent(ACTING, "acting", approval_policy={"member.*": ASK})


def approval(tg: Telegram, data: str) -> Json:
    """Returns the approval of a button."""
    [found] = [each for each in tg.host.items("/approvals") if each["keyword"] in data]
    return found


async def test_a_button_decides_once_for_an_authorized_user_and_survives_a_kill_of_the_host(own: Telegram) -> None:
    simulator = group()
    async with own.bot(to_agent(agent(own)), simulator):
        question = await request_kick(own, simulator)
        data = question.buttons[0]["callback_data"]
        assert [each["text"] for each in question.buttons] == ["Approve", "Deny"]
        await simulator.press(question, "Approve", ANN)
        await simulator.until(lambda: any("you may not decide this" in text for text in simulator.texts(GROUP)))
        assert simulator.made("banChatMember") == []

        await asyncio.to_thread(own.host.kill)
        await asyncio.to_thread(own.host.start)
        await simulator.press(question, "Approve", BOSS)
        await simulator.until(lambda: bool(simulator.made("banChatMember")) and not question.buttons)
        await simulator.press_data(question, data, BOSS)
        await simulator.until(lambda: any("it was decided before" in text for text in simulator.texts(GROUP)))
        await simulator.until(lambda: len(simulator.world.answered_queries) == 3)
        decided = await eventually(lambda: executed_approval(own, data), "the approval has its outcome")
    assert len(simulator.made("banChatMember")) == 1
    assert (decided["status"], decided["decided_by"]) == ("approved", f"user:{BOSS}")
    assert "pproved" in question.text


def executed_approval(tg: Telegram, data: str) -> Json:
    found = approval(tg, data)
    return found if found["outcome"] else {}


@pytest.mark.long
async def test_a_press_of_a_user_who_left_the_group_decides_nothing(own: Telegram) -> None:
    simulator = group()
    simulator.world.add_member(GROUP, STRANGER, "left")
    async with own.bot(to_agent(agent(own)), simulator):
        question = await request_kick(own, simulator)
        data = question.buttons[0]["callback_data"]
        await simulator.press(question, "Approve", STRANGER)
        await simulator.until(lambda: any("you may not decide this" in text for text in simulator.texts(GROUP)))
        assert approval(own, data)["status"] == "pending"
        await simulator.press(question, "Deny", BOSS)
        await simulator.until(lambda: not question.buttons)
        assert approval(own, data)["status"] == "denied"
    assert simulator.made("banChatMember") == []


@pytest.mark.long
async def test_an_album_that_a_kill_interrupts_is_received_completely_and_once(own: Telegram) -> None:
    simulator = Simulator()
    routes = to_agent(own.host.agent(ECHO, "echo"))
    async with own.bot(routes, simulator) as bot:
        photos = [photo(simulator, f"photo {number}".encode()) for number in range(2)]
        first, second = (simulator.message(ANN, media_group_id="an album", **photo) for photo in photos)
        await simulator.report(message=first)
        await simulator.until(lambda: not simulator.updates.waiting)
        await asyncio.to_thread(own.host.kill)
        await simulator.report(message=second)
        await asyncio.to_thread(own.host.start)

        images = await eventually(lambda: picture_counts(own, bot), "the album came in")
    assert images == [2]


def picture_counts(tg: Telegram, bot: Bot) -> list[int]:
    """Returns the number of pictures in each of the bot's events."""
    with closing(sqlite3.connect(tg.host.data / "parlour.db")) as database:
        bodies = database.execute("SELECT body FROM events WHERE bot_id = ?", (bot.bot_id,)).fetchall()
    chains = [json.loads(body)["data"]["message_chain"] for (body,) in bodies]
    return [sum(part["type"] == "Image" for part in chain) for chain in chains]
