"""Runs a real kill -9 at every named point, before and after each commit and send, and checks every promise afterwards.

Three kinds of clients send messages during the kill: over the API, over the chat socket with steering, and on a
platform that can't say whether it received a message.
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Protocol

import aiohttp
import pytest

from parlour.core.journal import Row, Select, one_of, where
from parlour.core.store.tables import INBOX, OUTBOX, OUTCOMES
from parlour.stores.sql import SQLITE, Compiler
from parlour.testing.simulation.promises import UserMessage, check
from tests.crash.chat_client import ReconnectingChat
from tests.crash.conftest import Prepared, RestartableHost
from tests.crash.platform import People

UNITS = (
    "event.begin",
    "event.accept",
    "run.open",
    "run.stream",
    "run.deltas",
    "run.end",
    "steering.claim",
    "steering.pull",
    "state.set",
    "conversation.open",
    "outbox.sent",
)
POINTS = [f"{unit}:{side}" for unit in UNITS for side in ("before", "after")] + [
    "send:before",
    "send:after",
    "event.begin:after#4",
    "event.accept:after#4",
    "run.open:after#4",
    "run.end:before#4",
    "run.end:after#5",
    "send:after#2",
]
SHORT_POINTS = {
    "event.begin:after",
    "run.end:before",
    "steering.claim:after",
    "send:after",
}
"""The points of `make test`. The simulation goes through all points, in far more orders."""
ANSWER_SECONDS = 30
UNSENT = ("pending", "sending", "streaming")


class Store(Protocol):
    """Reads the database of a Host from another process."""

    def read(self, query: Select) -> list[Row]: ...

    def pending_rows(self) -> int: ...


class Sqlite:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._compiler = Compiler(SQLITE)

    def read(self, query: Select) -> list[Row]:
        plan, parameters = self._compiler.select(query)
        with closing(sqlite3.connect(self._file)) as database:
            rows = database.execute(plan.text, parameters).fetchall()
        return [dict(zip(plan.columns, row, strict=True)) for row in rows]

    def pending_rows(self) -> int:
        return len(self.read(Select(INBOX))) + len(self.read(Select(OUTBOX, where(state=one_of(*UNSENT)))))


@pytest.mark.parametrize(
    "point", [pytest.param(each, marks=[] if each in SHORT_POINTS else [pytest.mark.long]) for each in POINTS]
)
async def test_nothing_is_lost_or_doubled_when_the_host_is_killed_at(
    point: str, restartable_host: RestartableHost, prepared: Prepared, people: People
) -> None:
    await kill_at(point, restartable_host, prepared, people, Sqlite(restartable_host.data / "parlour.db"))


@pytest.mark.parametrize(
    "point",
    [
        "run.end:before",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("run.open:after", "run.end:before#2")),
    ],
)
async def test_nothing_is_quarantined_when_the_host_is_killed_twice_at(
    point: str, restartable_host: RestartableHost, prepared: Prepared, people: People
) -> None:
    await kill_at(point, restartable_host, prepared, people, Sqlite(restartable_host.data / "parlour.db"), kills=2)


async def kill_at(
    point: str, restartable_host: RestartableHost, prepared: Prepared, people: People, store: Store, kills: int = 1
) -> None:
    process = restartable_host.start(point)
    if point.startswith("event.begin"):
        await restartable_host.ready()  # earlier messages wait in the queue
    done = asyncio.Event()
    chat_url = f"ws://127.0.0.1:{restartable_host.port}/api/v1/agents/{prepared.holding}/chat/ws"
    chatter = ReconnectingChat(chat_url, prepared.key, "crash")
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {prepared.key}"}) as session:
        talking = asyncio.create_task(chatter.talk("first-token.", "second-token.", done))
        asking = [
            asyncio.create_task(ask(session, restartable_host, prepared.echo, f"api{number}", f"api{number}-token."))
            for number in range(3)
        ]
        asking.append(asyncio.create_task(ask(session, restartable_host, prepared.remembering, "kept", "kept-token.")))
        for number in range(3):
            people.say(f"line{number}", f"chat{number % 2}", f"line{number}-token.")
        for left in reversed(range(kills)):
            killed = await restartable_host.died(process, 60)
            assert killed, f"the Host never came to {point}: {(restartable_host.data / 'host.log').read_text()[-2000:]}"
            process = restartable_host.start(point if left else "")
        await restartable_host.ready()
        answers = await asyncio.wait_for(asyncio.gather(*asking), ANSWER_SECONDS)
        await people.wait(lambda: len(people.accepted) == 3, ANSWER_SECONDS)
        await wait_until_idle(store, chatter, talking)
        done.set()
        await talking
    restartable_host.stop()

    messages = [UserMessage(f"api{n}", "api", "api", "key", f"api{n}-token.", accepted=True) for n in range(3)]
    messages += [UserMessage(f"line{n}", "chat", "sim", "ann", f"line{n}-token.", accepted=True) for n in range(3)]
    messages.append(UserMessage("kept", "api", "api", "key", "kept-token.", accepted=True))
    messages += [
        UserMessage(chatter.event_ids[name], "crash", "webui", "key", f"{name}-token.", accepted=True)
        for name in chatter.event_ids
    ]
    check(store.read, messages, people.shown, allowed_repeats=kills)
    quarantined = [row for row in store.read(Select(OUTCOMES)) if row["outcome"] == "quarantined"]
    assert not quarantined, "no message is put aside because the Host was killed"
    assert all(answer["messages"] for answer in answers), "each request was answered or got a notice"
    assert len(chatter.messages) == len(set(chatter.messages)), "no message was shown twice on the socket"
    is_answered = bool(chatter.notices) or chatter.received("first-token")
    assert is_answered, "the socket got an answer or a notice"


async def ask(
    session: aiohttp.ClientSession, restartable_host: RestartableHost, agent: str, event_id: str, text: str
) -> dict[str, object]:
    """Sends the same event id again until there is an answer, as a careful script does."""
    body = {"agent_id": agent, "event_id": event_id, "conversation_id": "asked", "input": {"text": text}}
    while True:
        try:
            async with session.post(f"{restartable_host.url}/api/v1/events?wait=result", json=body) as answer:
                if answer.status == 200:
                    return dict(await answer.json())
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(0.05)


async def wait_until_idle(store: Store, chatter: ReconnectingChat, talking: "asyncio.Task[None]") -> None:
    """Waits until nothing is pending or unsent, and the socket has an answer to every message."""
    async with asyncio.timeout(ANSWER_SECONDS):
        while chatter.unaccepted or store.pending_rows() or not (chatter.notices or chatter.received("first-token")):
            await asyncio.sleep(0.05)
            if talking.done():
                talking.result()
