"""An event with any value in one of its fields is not lost: it comes in unchanged or as malformed."""

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
from parlour.platforms.onebot11.connection import OneBotConnection
from parlour.platforms.onebot11.state import ConnectedAccounts
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


class OneFrameSocket:
    """A socket that delivers one frame, answers every call with the same data, and closes at `end()`."""

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


async def receive_event(event: dict[str, Any], answers: Any = None) -> IncomingEvent:
    link, socket = MemoryLink(), OneFrameSocket(json.dumps(event), answers)
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
    """Yields the place of every value in it, itself included."""
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


def assert_storable(incoming: IncomingEvent) -> None:
    """Asserts that the event can be stored and read again."""
    envelope = to_envelope(incoming, "bot", "onebot11")
    assert loads(dumps([dict(envelope.data), dict(envelope.input), envelope.actor.id, envelope.event_id]))


@given(st.sampled_from(PLACES), ANYTHING)
def test_any_value_in_any_field_still_gives_an_event(where: tuple[dict[str, Any], Place], anything: object) -> None:
    event = with_value(*where, anything)
    if str(event.get("user_id")) == str(event.get("self_id")):
        return  # the bot's own message is dropped
    assert_storable(asyncio.run(receive_event(event)))


@given(st.sampled_from(GOOD[:2]), ANYTHING)
def test_any_answer_to_a_lookup_still_gives_the_message(event: dict[str, Any], anything: object) -> None:
    incoming = asyncio.run(receive_event(event, anything))
    assert_storable(incoming)
    assert incoming.event.type == "message.received"


@pytest.mark.parametrize("odd", [["x"], {"a": 1}, None, 5, True])
async def test_an_unreadable_segment_is_unknown_and_the_rest_is_kept(
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
async def test_a_value_nested_too_deep_is_cut_and_the_event_comes_in(place: Place, depth: int) -> None:
    event = {**native.message(10001, 5, 7, [native.segment("dice", text="")]), "extra": ""}
    deep: Any = []
    for _ in range(depth):
        deep = [deep]
    assert_storable(await receive_event(with_value(event, place, deep)))


@pytest.mark.parametrize("number", ["9" * 600, "9" * 5000, "1e400", "-1e999"])
@pytest.mark.parametrize("name", ["message_id", "user_id", "self_id", "time", "extra"])
async def test_an_invalid_number_does_not_lose_the_event(
    name: str, number: str, bot: Bot, simulator: Simulator
) -> None:
    event = {**native.message(10001, 5, 7, [native.text("hello")]), name: "NUMBER"}
    await simulator.send_frame(json.dumps(event).replace('"NUMBER"', number))
    [incoming] = await bot.link.events(1)
    assert_storable(incoming)
