"""Tests that an unmodified third-party OneBot library works with the simulator as with NapCat, so
it is valid evidence.
"""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest

from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native

BOT = Path(__file__).with_name("nonebot_bot.py")
TOKEN = "the-token"


@contextmanager
def nonebot(folder: Path, way: str, place: str) -> Iterator[None]:
    with (folder / "nonebot.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(BOT), way, place, TOKEN], stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture(params=["forward array", "reverse string"])
async def simulator(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Simulator]:
    way, message_format = request.param.split()
    simulator = Simulator(token=TOKEN, message_format=message_format, strict=True)
    simulator.world.add_group(30003, "the group", role="admin")
    simulator.world.add_friend(20002)
    async with AsyncExitStack() as stack:
        if way == "forward":
            place = await stack.enter_async_context(simulator.listening())
            stack.enter_context(nonebot(tmp_path, way, place))
        else:
            port = free_port()
            stack.enter_context(nonebot(tmp_path, way, str(port)))
            await stack.enter_async_context(simulator.connecting(f"ws://127.0.0.1:{port}/onebot/v11/ws"))
        await simulator.until(lambda: simulator.connected, seconds=60)
        yield simulator


async def test_nonebot_connects_receives_and_sends_through_the_simulator(simulator: Simulator) -> None:
    image = native.segment("image", file="https://example.com/a.png?x=1,2")
    await simulator.say([native.text("a [b] & c, d"), native.segment("face", id="14"), image], user_id=20002)
    [private] = await simulator.answered(1, "private:20002")
    assert [each["type"] for each in private.segments] == ["text", "face", "image"]
    assert private.text == "a [b] & c, d"
    assert private.segments[2]["data"]["file"] == "https://example.com/a.png?x=1,2"

    await simulator.say("hello", user_id=20002, group_id=30003)
    [group] = await simulator.answered(1, "group:30003")
    assert group.segments[0] == {"type": "at", "data": {"qq": "20002"}}
    assert group.text.endswith("you said: hello")

    quoted = native.segment("reply", id=str(private.message_id))
    await simulator.say([quoted, native.text("why?")], user_id=20002)
    assert (await simulator.answered(2, "private:20002"))[-1].text == "you quoted: a [b] & c, d"

    await simulator.say("ask", user_id=20002)
    assert (await simulator.answered(3, "private:20002"))[-1].text == "10001 the group 102"

    joined = {"sub_type": "approve", "group_id": 30003, "operator_id": 1, "user_id": 20006}
    await simulator.report(native.notice(simulator.self_id, "group_increase", **joined))
    assert (await simulator.answered(2, "group:30003"))[-1].text == "welcome 20006"

    arguments = simulator.world.requests["flag"] = {}
    await simulator.report(native.request(simulator.self_id, "friend", "flag", user_id=20009, comment="hi"))
    await simulator.until(lambda: bool(arguments))
    assert arguments == {"answer": {"approve": True, "remark": "a friend"}}
