"""Obeys the first word of the message; the rest of the message is the argument."""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import TemporaryFile

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

Deed = AsyncGenerator[Result, None]

HELD: list[bytes] = []
MEBIBYTE = 1024 * 1024


def touch(path: str) -> None:
    """Creates the file, so that the test knows that this point is reached."""
    Path(path).touch()


def set_free(argument: str) -> None:
    """Starts `sleep` as an orphan in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        subprocess.Popen(["/bin/sleep", argument], stdin=subprocess.DEVNULL)
        os._exit(0)
    os.wait()


def write(path: str, megabytes: int) -> None:
    Path(path).write_bytes(os.urandom(megabytes * MEBIBYTE))


class Rogue(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> Deed:
        verb, _, argument = (ctx.input.text or "").partition(" ")
        async for result in DEEDS[verb](argument):
            yield result


async def say(argument: str) -> Deed:
    yield results.completed(argument)


async def gate(argument: str) -> Deed:
    """Creates a file when it begins, and ends when the file of its argument appears."""
    touch(f"{argument}.begun")
    while not await asyncio.to_thread(Path(argument).exists):
        await asyncio.sleep(0.01)
    yield results.completed("the gate is open")


async def stubborn(argument: str) -> Deed:
    """Continues for ever and ignores its cancellation."""
    yield results.delta("never ")
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


async def block(argument: str) -> Deed:
    """Blocks its event loop and ignores requests to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    touch(argument)
    time.sleep(600)  # noqa: ASYNC251 - the event loop is to hang
    yield results.completed("unblocked")


async def daemon(argument: str) -> Deed:
    set_free(argument)
    yield results.completed("it is on its own")


async def crash(argument: str) -> Deed:
    yield results.delta("about to ")
    os._exit(int(argument))


async def leak(argument: str) -> Deed:
    HELD.append(os.urandom(int(argument) * MEBIBYTE))
    await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def fill(argument: str) -> Deed:
    """Writes this number of MiB into the file."""
    megabytes, _, path = argument.partition(" ")
    write(path, int(megabytes))
    await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def stretch(argument: str) -> Deed:
    """Creates a sparse file of this number of MiB in the folder, which uses no disk space."""
    megabytes, _, folder = argument.partition(" ")
    os.mkdir(folder)
    os.truncate(os.open(os.path.join(folder, "sparse"), os.O_CREAT | os.O_WRONLY), int(megabytes) * MEBIBYTE)
    await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def litter(argument: str) -> Deed:
    """Creates this number of empty files in the folder."""
    count, _, folder = argument.partition(" ")
    os.mkdir(folder)
    for number in range(int(count)):
        os.close(os.open(os.path.join(folder, str(number)), os.O_CREAT))
    await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def leak_file(argument: str) -> Deed:
    """Uses this number of MiB of memory outside the process."""
    file = os.memfd_create("hoard")
    for _ in range(int(argument)):
        os.write(file, os.urandom(MEBIBYTE))
    await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def fill_unseen(argument: str) -> Deed:
    """Uses this number of MiB of disk space in an unlinked file."""
    with TemporaryFile(dir=os.environ["PARLOUR_PLUGIN_DATA"]) as file:
        for _ in range(int(argument)):
            file.write(os.urandom(MEBIBYTE))
        file.flush()
        await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def bury(argument: str) -> Deed:
    """Nests folders until their path is longer than a path may be."""
    os.chdir(os.environ["PARLOUR_PLUGIN_DATA"])
    for _ in range(30):
        os.mkdir(argument)
        os.chdir(argument)
    write("treasure", 1)
    await asyncio.sleep(60)
    yield results.completed("nobody minded")


async def shout(argument: str) -> Deed:
    for number in range(int(argument)):
        print(f"shouted {number}")  # noqa: T201
    sys.stderr.write("shouted enough\n")
    yield results.completed("hoarse")


async def tell(argument: str) -> Deed:
    facts = {
        "environment": dict(os.environ),
        "niceness": os.nice(0),
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
    }
    yield results.completed(json.dumps(facts))


_ALL = (
    say,
    gate,
    stubborn,
    block,
    daemon,
    crash,
    leak,
    leak_file,
    fill,
    stretch,
    litter,
    fill_unseen,
    bury,
    shout,
    tell,
)
DEEDS = {deed.__name__: deed for deed in _ALL}
