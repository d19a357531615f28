"""Tests that each accepted message on QQ is answered or its sender notified, although the Host is killed repeatedly.

OneBot acknowledges nothing, so a message that was on its way in when the Host died may be lost. A send whose answer was
lost is looked up in the chat's history; if that does not show it, it may be sent once more, marked as repeated. One
message at a time is with the platform, so one kill repeats at most one message.
"""

import asyncio
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.testing.onebot_simulator import Simulator
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

from .acting import ACTING_PLUGIN, ASK, BOSS, GROUP, about_eve, agent, decisions, kicks, mention_bot
from .qq import QQ, event_id, eventually, to_agent

CHATS = 25


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QQ]:
    host = Host(tmp_path_factory.mktemp("killed host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.install(ACTING_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


async def test_accepted_messages_are_answered_although_the_host_is_killed_three_times(own: QQ) -> None:
    await kill_repeatedly(own, kills=3, rate=100, seconds=(0.2, 0.6), seed=3)


async def test_a_user_who_may_have_missed_an_answer_through_two_kills_is_notified(own: QQ) -> None:
    bot = own.bot(to_agent(own.host.agent(ECHO)))
    async with bot.connected() as simulator:
        simulator.world.has_history = False
        simulator.faults.stay_silent("send_private_msg")
        simulator.faults.stay_silent("send_private_msg")
        message = await simulator.say("well?", user_id=1)
        for tries in (1, 2):
            await simulator.answered(tries)
            await asyncio.to_thread(own.host.kill)
            await asyncio.to_thread(own.host.start)
        shown = [each.text for each in await simulator.answered(3)]
        assert shown == ["well?", f"well?{DEFAULT_REPEAT_NOTE}", notice_text("delivery.unknown")]
        answer, notice = await own.wait_for_deliveries(message, "failed", "sent")
    bot.delete()
    assert "the platform never answered; it may have been sent" in answer["text"]
    assert (answer["data"]["state"], notice["data"]["state"]) == ("failed", "sent")


async def test_decisions_after_a_kill_about_earlier_approvals_are_in_the_ledger_of_their_run(own: QQ) -> None:
    policy = {"member.kick": ASK, "member.mute": {**ASK, "seconds": 10}}
    bot = own.bot(to_agent(await agent(own, policy)))
    simulator = Simulator()
    simulator.world.add_group(GROUP, role="admin")
    async with bot.connected(simulator):
        await mention_bot(simulator, about_eve("member.kick", "member.mute"))
        await simulator.until(lambda: sum(each.text.endswith(": pending") for each in simulator.sent()) == 2)
        approvals = {each["action"]: each for each in own.host.items("/approvals")}
        [run_id] = {each["run_id"] for each in approvals.values()}
        connections = simulator.connections
        await asyncio.to_thread(own.host.kill)
        await asyncio.to_thread(own.host.start)
        await simulator.until(lambda: simulator.connections > connections)
        await mention_bot(simulator, f"approve {approvals['member.kick']['keyword']}", BOSS)
        await simulator.until(lambda: bool(kicks(simulator)))
        recorded = await eventually(lambda: decided(own, run_id, 2), "the other approval has expired")
    bot.delete()
    assert {each["action"]: (each["status"], each["decided_by"]) for each in recorded} == {
        "member.kick": ("approved", f"user:{BOSS}"),
        "member.mute": ("expired", None),
    }


def decided(own: QQ, run_id: str, count: int) -> list[Json]:
    recorded = decisions(own, run_id)
    return recorded if len(recorded) == count else []


@pytest.mark.long
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("has_history", [True, False], ids=["with a history", "without"])
async def test_accepted_messages_are_answered_although_the_host_is_killed_twenty_times(
    own: QQ, has_history: bool
) -> None:
    await kill_repeatedly(own, kills=20, rate=200, seconds=(0.2, 2), seed=20, has_history=has_history)


async def kill_repeatedly(
    own: QQ, kills: int, rate: float, seconds: tuple[float, float], seed: int, has_history: bool = True
) -> None:
    """Kills the Host repeatedly while messages are sent. `has_history` says whether the platform has a history."""
    chance = random.Random(seed)
    bot = own.bot(to_agent(own.host.agent(ECHO)))
    said: list[Json] = []
    under_way: set[tuple[str, str]] = set()
    extras = [0]
    """The number of answers that were shown twice up to each kill."""
    async with bot.connected() as simulator:
        simulator.world.has_history = has_history
        talking = asyncio.create_task(talk(simulator, said, rate))
        for _ in range(kills):
            before, connections = len(simulator.sent()), simulator.connections
            await simulator.until(lambda before=before: len(simulator.sent()) > before)  # type: ignore[misc]
            await asyncio.sleep(chance.uniform(*seconds))
            await asyncio.to_thread(own.host.kill)
            extras.append(len(repeated(simulator)))
            under_way |= sending(own.host.data)
            await asyncio.to_thread(own.host.start)
            await simulator.until(lambda connections=connections: simulator.connections > connections)  # type: ignore[misc]
        talking.cancel()
        await asyncio.wait([talking])
        # Earlier messages have been received before this one.
        said.append(await simulator.say("token-last.", user_id=1))
        await simulator.until(lambda: any(each.text == "token-last." for each in simulator.sent()), seconds=120)
        await eventually(lambda: pending_rows(own.host.data) == 0, "nothing is pending any more", 120)
    check(simulator, accepted(own.host.data, said))
    check_outcomes(own.host.data)
    assert repeated(simulator) <= under_way, "only sends with an unknown state are repeated"
    extras.append(len(repeated(simulator)))
    assert all(after - before <= 1 for before, after in pairwise(extras)), f"one per kill at most: {extras}"
    bot.delete()


async def talk(simulator: Simulator, said: list[Json], rate: float) -> None:
    """Sends messages at this rate while the bot is connected, and does not catch up for the time
    without a connection.
    """
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        number = len(said)
        said.append(await simulator.say(f"token-{number}.", user_id=1 + number % CHATS))
        due = max(due + 1 / rate, loop.time() - 1 / rate)
        await asyncio.sleep(due - loop.time())


def check(simulator: Simulator, events: list[Json]) -> None:
    assert events
    shown = {(each.chat, each.text.removesuffix(DEFAULT_REPEAT_NOTE)) for each in simulator.sent()}
    notified = {chat for chat, text in shown if "token-" not in text}
    for event in events:
        [segment] = event["message"]
        chat, text = f"private:{event['user_id']}", segment["data"]["text"]
        assert (chat, text) in shown or chat in notified, f"{text} was neither answered nor its sender notified"


def check_outcomes(data: Path) -> None:
    """Checks that kills put nothing into quarantine, and that no whole answer is called interrupted."""
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        quarantined = database.execute(
            "SELECT event_seq, reason FROM outcomes WHERE outcome = 'quarantined'"
        ).fetchall()
        interrupted = database.execute(
            "SELECT events.input_summary, outbox.payload FROM outcomes "
            "JOIN events ON events.seq = outcomes.event_seq JOIN outbox ON outbox.run_id = outcomes.run_id "
            "WHERE outcome = 'failed' AND outcomes.reason = 'interrupted' AND outbox.kind = 'message'"
        ).fetchall()
    assert quarantined == [], "no message is put aside because the Host was killed"
    answered = [said for said, payload in interrupted if json.loads(payload)["message"]["content"] == said]
    assert answered == [], "no complete answer is reported as interrupted"


def repeated(simulator: Simulator) -> set[tuple[str, str]]:
    """Returns the answers that were shown twice. They must not be shown more often, and the second
    one must be marked.
    """
    shown = Counter((each.chat, each.text.removesuffix(DEFAULT_REPEAT_NOTE)) for each in simulator.sent())
    extras = {key for key, number in shown.items() if number > 1 and "token-" in key[1]}
    for chat, text in extras:
        copies = [each.text for each in simulator.sent(chat) if each.text.removesuffix(DEFAULT_REPEAT_NOTE) == text]
        assert [each.endswith(DEFAULT_REPEAT_NOTE) for each in copies] == [False, True]
    return extras


def accepted(data: Path, said: list[Json]) -> list[Json]:
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        event_ids = {name for (name,) in database.execute("SELECT event_id FROM events")}
    return [event for event in said if event_id(event) in event_ids]


def sending(data: Path) -> set[tuple[str, str]]:
    """Returns chats and texts of messages with an unknown delivery state."""
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        rows = [json.loads(each) for (each,) in database.execute("SELECT payload FROM outbox WHERE state = 'sending'")]
    return {(f"private:{row['address']['chat_id']}", row["message"]["content"]) for row in rows}


def pending_rows(data: Path) -> int:
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        [(inbox,)] = database.execute("SELECT count(*) FROM inbox")
        [(outbox,)] = database.execute("SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending', 'streaming')")
    return int(inbox) + int(outbox)
