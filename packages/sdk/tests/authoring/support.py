"""Provides a plugin whose agent follows the commands of a test, and a user who chats with it without a terminal."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from parlour_sdk.authoring.chat.conversation import TerminalConversation
from parlour_sdk.authoring.chat.session import create_chat
from parlour_sdk.authoring.chat.terminal import LineQueue, Screen
from parlour_sdk.plugin import load, read_plugin

PUPPET = '''
import asyncio

from parlour_sdk import plugin, results, runner, tool

plugin("test/puppet", version="1.0")


@tool
async def double(number: int):
    """Doubles."""
    return number * 2


@runner(
    capabilities=["streaming", "steering", "tool_calling"],
    permissions={"models": ["invoke"], "tools": ["call"]},
    config=[
        {"name": "model", "type": "llm-model-selector"},
        {"name": "tools", "type": "tool-multi-selector"},
        {"name": "times", "type": "integer", "default": 1},
        {"name": "name", "type": "string"},
    ],
)
async def puppet(ctx, api):
    said = ctx.input.text
    match said.split(" ")[0]:
        case "wait":
            yield results.delta("waiting")
            heard = []
            while "go" not in heard:
                heard += [item.input.text for item in await api.steering.pull()]
                await asyncio.sleep(0.005)
            yield results.completed(f"heard {' '.join(heard)}")
        case "deaf":
            yield results.delta("deaf")
            await asyncio.sleep(0.2)
            yield results.completed("deaf no more")
        case "fail":
            raise ValueError("a puppet's fault")
        case "silent":
            yield results.silent()
        case "fragments":
            yield results.delta("left ")
            yield results.delta("over")
        case "late":
            yield results.finished(message="at the end")
        case "other":
            yield results.delta("draft")
            yield results.completed("final")
        case "model":
            answer = await api.models.invoke(ctx.config["model"], said)
            yield results.completed(answer.message)
        case "tool":
            yield results.tool_started("1", "double", {"number": 4})
            outcome = await api.tools.call(ctx.config["tools"][0], {"number": 4})
            yield results.tool_completed("1", "double", outcome.content[0].value)
            yield results.completed("done")
        case "remember":
            await api.state.set("conversation", "said", said)
            yield results.completed("noted")
        case _:
            yield results.completed(" ".join([said] * ctx.config["times"]))
    yield results.finished()


@runner(name="still")
async def still(ctx, api):
    yield results.delta("still")
    await asyncio.sleep(0.05)
    yield results.completed(f"still {ctx.input.text}")
'''


class Output(io.StringIO):
    """Records the output of a chat. A test can wait for a text in it."""

    def __init__(self) -> None:
        super().__init__()
        self._written = asyncio.Event()

    def write(self, text: str) -> int:
        self._written.set()
        return super().write(text)

    async def until(self, text: str, times: int = 1) -> None:
        async with asyncio.timeout(10):
            while self.getvalue().count(text) < times:
                self._written.clear()
                await self._written.wait()


class User:
    def __init__(self, talk: TerminalConversation, lines: LineQueue, output: Output) -> None:
        self.talk = talk
        self._lines = lines
        self._output = output

    def enter(self, *lines: str) -> None:
        for line in lines:
            self._lines.put_nowait(line)

    def leave(self) -> None:
        self._lines.put_nowait(None)

    async def sees(self, text: str, times: int = 1) -> None:
        await self._output.until(text, times)

    @property
    def seen(self) -> str:
        return self._output.getvalue()


def write_puppet(folder: Path) -> Path:
    file = folder / "puppet.py"
    file.write_text(PUPPET)
    return file


@asynccontextmanager
async def chatting(
    file: Path, typed: bool, runner: str = "default", config: tuple[str, ...] = (), model: str = "echo"
) -> AsyncIterator[User]:
    """Starts a chat. It must have ended when the block ends."""
    output, lines = Output(), LineQueue()
    talk = TerminalConversation(
        create_chat(load(read_plugin(file)), runner, config, model), Screen(output, typed), typed
    )
    serving = asyncio.ensure_future(talk.serve(lines))
    try:
        yield User(talk, lines, output)
        await asyncio.wait_for(serving, 10)
    finally:
        serving.cancel()


async def script(file: Path, *lines: str, **given: str) -> str:
    """Returns the output of a script that sends these lines."""
    async with chatting(file, typed=False, **given) as user:
        user.enter(*lines)
        user.leave()
    return user.seen
