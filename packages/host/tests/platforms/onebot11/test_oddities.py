"""Whatever stands in one place of a good event, the event is not lost: it comes as it is, or as malformed."""

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosedOK

import parlour.platforms.onebot11 as package
from parlour.core.backoff import Backoff
from parlour.core.encoding import dumps, loads
from parlour.core.platforms.events import to_envelope
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms.onebot11.adapter import OneBotAdapter
from parlour.platforms.onebot11.client import OneBotConnection
from parlour.platforms.onebot11.connected_accounts import ConnectedAccounts
from parlour.testing.memory_link import MemoryLink
from parlour.testing.native_payloads import read_samples
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import Plain, Unknown

from .conftest import Bot
from .test_receiving import chain

NAMED = [native.segment(kind, id="5", file="a") for kind in ("reply", "forward", "image", "record", "video", "file")]
GOOD = [
    native.message(10001, 5, 7, [*NAMED, native.text("hello")]),
    native.message(10001, 6, 7, [*NAMED, native.segment("node", user_id="8", content=[native.text("in")])], 30003),
    *(sample.native for sample in read_samples(Path(package.__file__).parent / "samples")),
]
Place = tuple[str | int, ...]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


class OneEvent:
    """A socket that brings one frame, answers every call with the same data, and ends when it is let go."""

    remote_address = ("127.0.0.1", 1)

    def __init__(self, frame: str, data: Any) -> None:
        self._frames = deque([frame])
        self._data = data
        self._more = asyncio.Event()
        self.over = False

    async def recv(self, decode: bool | None = None) -> str | bytes:
        while not self._frames:
            if self.over:
                raise ConnectionClosedOK(None, None)
            self._more.clear()
            await self._more.wait()
        return self._frames.popleft().encode()

    async def send(self, message: str) -> None:
        answer = {"status": "ok", "retcode": 0, "data": self._data, "echo": json.loads(message)["echo"]}
        self._frames.append(json.dumps(answer))
        self._more.set()

    def end(self) -> None:
        self.over = True
        self._more.set()


async def came_in(event: dict[str, Any], answers: Any = None) -> IncomingEvent:
    link, socket = MemoryLink(), OneEvent(json.dumps(event), answers)
    adapter, connection = OneBotAdapter(link, Backoff(), ConnectedAccounts()), OneBotConnection(socket)  # type: ignore[arg-type]
    connection.account = "10001"
    talking = asyncio.create_task(adapter._serve_connection(connection))
    try:
        await link.until(lambda: bool(link.incoming), seconds=4)
    finally:
        socket.end()
        await talking
    return link.incoming[0]


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Of everything in it, itself included."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        yield from places(each, (*here, name))


def with_value(value: Any, place: Place, other: Any) -> Any:
    if not place:
        return other
    name, *rest = place
    if isinstance(value, list):
        return [with_value(each, tuple(rest), other) if at == name else each for at, each in enumerate(value)]
    return {**value, name: with_value(value[name], tuple(rest), other)}


PLACES = [(event, place) for event in GOOD for place in places(event) if place and place != ("post_type",)]


def kept(incoming: IncomingEvent) -> None:
    """As the Host writes it down and reads it again."""
    told = to_envelope(incoming, "bot", "onebot11")
    assert loads(dumps([dict(told.data), dict(told.input), told.actor.id, told.event_id]))


@given(st.sampled_from(PLACES), ANYTHING)
def test_anything_in_any_place_of_a_good_event_leaves_an_event(
    where: tuple[dict[str, Any], Place], anything: object
) -> None:
    event = with_value(*where, anything)
    if str(event.get("user_id")) == str(event.get("self_id")):
        return  # the bot's own
    kept(asyncio.run(came_in(event)))


@given(st.sampled_from(GOOD[:2]), ANYTHING)
def test_anything_that_is_answered_leaves_the_message(event: dict[str, Any], anything: object) -> None:
    incoming = asyncio.run(came_in(event, anything))
    kept(incoming)
    assert incoming.event.type == "message.received"


@pytest.mark.parametrize("odd", [["x"], {"a": 1}, None, 5, True])
async def test_a_segment_that_can_not_be_read_is_unknown_and_the_rest_is_kept(
    odd: object, bot: Bot, simulator: Simulator
) -> None:
    segments = [{"type": odd, "data": {}}, native.text("the rest")]
    await simulator.send_frame(json.dumps(native.message(10001, 5, 7, segments)))
    [incoming] = await bot.link.events(1)
    unknown, rest = chain(incoming)
    assert isinstance(unknown, Unknown)
    assert rest == Plain(text="the rest")


@pytest.mark.parametrize("depth", [150, 250, 500])
@pytest.mark.parametrize("place", [("extra",), ("message", 0, "data", "text"), ("sender", "nickname")])
async def test_what_is_nested_too_deep_is_cut_and_the_event_comes(place: Place, depth: int) -> None:
    event = {**native.message(10001, 5, 7, [native.segment("dice", text="")]), "extra": ""}
    deep: Any = []
    for _ in range(depth):
        deep = [deep]
    kept(await came_in(with_value(event, place, deep)))


@pytest.mark.parametrize("number", ["9" * 600, "9" * 5000, "1e400", "-1e999"])
@pytest.mark.parametrize("name", ["message_id", "user_id", "self_id", "time", "extra"])
async def test_a_number_that_is_none_does_not_lose_the_event(
    name: str, number: str, bot: Bot, simulator: Simulator
) -> None:
    event = {**native.message(10001, 5, 7, [native.text("hello")]), name: "NUMBER"}
    await simulator.send_frame(json.dumps(event).replace('"NUMBER"', number))
    [incoming] = await bot.link.events(1)
    kept(incoming)
