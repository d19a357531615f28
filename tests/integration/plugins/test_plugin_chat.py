"""Tests `parlour plugin chat` with a pipe, with a file, and at a real terminal with its control keys."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import PARLOUR, clean_environment
from tests.support.terminal import CTRL_C, CTRL_D, Terminal

SECONDS = 30
PLUGIN = """\
import asyncio
import time

from parlour_sdk import plugin, results, runner

plugin("test/talker", version="1.0")


@runner(capabilities=["streaming", "steering"], config=[{"name": "times", "type": "integer", "default": 1}])
async def talker(ctx, api):
    print("to the log")
    match ctx.input.text:
        case "wait":
            yield results.delta("waiting")
            heard = []
            while "go" not in heard:
                heard += [item.input.text for item in await api.steering.pull()]
                await asyncio.sleep(0.01)
            yield results.completed(f"heard {' '.join(heard)}")
        case "block":
            yield results.delta("blocking")
            await asyncio.sleep(0.01)
            time.sleep(600)
        case text:
            yield results.completed(" ".join([text] * ctx.config["times"]))
    yield results.finished()
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir()
    file = folder / "talker.py"
    file.write_text(PLUGIN)
    return file


@pytest.fixture
def terminal(plugin: Path) -> Iterator[Terminal]:
    """Starts the command at a terminal and waits for its prompt."""
    with Terminal([PARLOUR, "plugin", "chat", plugin.name], plugin.parent) as terminal:
        terminal.until("test/talker 1.0, runner default. Say something")
        terminal.until("> ")
        yield terminal


def chat(plugin: Path, *options: str, said: str | Path = "") -> subprocess.CompletedProcess[bytes]:
    """Runs the command with a pipe or a file as standard input."""
    command = [str(PARLOUR), "plugin", "chat", str(plugin), *options]
    environment = clean_environment(None)
    if isinstance(said, str):
        return subprocess.run(command, env=environment, input=said.encode(), capture_output=True, timeout=SECONDS)
    with said.open("rb") as file:
        return subprocess.run(command, env=environment, stdin=file, capture_output=True, timeout=SECONDS)


def test_a_script_receives_the_answers_and_nothing_else(plugin: Path) -> None:
    done = chat(plugin, "--config", "times=2", said="grüße\nwait\n/steer go\nbye")

    assert done.stdout.decode() == "grüße grüße\nwaiting\nheard go\nbye bye\n"
    assert done.stderr.decode() == "to the log\n" * 3
    assert done.returncode == 0


def test_a_file_can_be_the_standard_input(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text("hello\n/quit\nnever said\n")

    assert chat(plugin, said=tmp_path / "said.txt").stdout == b"hello\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--runner", "absent"], "parlour: --runner: this plugin has no runner 'absent'; it has default\n"),
        (["--config", "times=x"], "parlour: --config: 'times' must be of type integer, not str\n"),
    ],
)
def test_invalid_options_are_refused_in_one_sentence(plugin: Path, options: list[str], sentence: str) -> None:
    done = chat(plugin, *options, said="hello\n")

    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", sentence)


def test_a_closed_pipe_ends_the_command(plugin: Path) -> None:
    command = [str(PARLOUR), "plugin", "chat", str(plugin)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        os.write(chat.stdin.fileno(), b"one\n")
        assert chat.stdout.readline() == b"one\n"
        chat.stdout.close()
        os.write(chat.stdin.fileno(), b"two\n")

        assert chat.wait(SECONDS) == 1


def test_a_user_chats_steers_and_leaves(terminal: Terminal) -> None:
    terminal.enter("good morning")
    terminal.until("\ngood morning\n")
    terminal.until("> ", times=2)
    terminal.enter("wait")
    terminal.until("waiting")
    terminal.enter("a moment")
    terminal.enter("/steer go")
    terminal.until("heard a moment go\n")
    terminal.until("> ", times=3)
    terminal.enter("/quit")

    assert terminal.status() == 0


def test_the_end_of_input_ends_the_chat(terminal: Terminal) -> None:
    terminal.type(CTRL_D)

    assert terminal.status() == 0


def test_ctrl_c_cancels_the_run_and_the_chat_goes_on(terminal: Terminal) -> None:
    terminal.enter("wait")
    terminal.until("waiting")
    terminal.type(CTRL_C)
    terminal.until("· cancelled")
    terminal.until("> ", times=2)
    terminal.enter("still there")
    terminal.until("\nstill there\n")
    terminal.enter("/quit")

    assert terminal.status() == 0


def test_ctrl_c_twice_ends_the_chat(terminal: Terminal) -> None:
    terminal.type(CTRL_C)
    terminal.until("· Ctrl-C again to leave")
    terminal.type(CTRL_C)

    assert terminal.status() == 130


def test_ctrl_c_twice_ends_the_chat_while_plugin_code_blocks(terminal: Terminal) -> None:
    terminal.enter("block")
    terminal.until("blocking")
    terminal.type(CTRL_C)
    terminal.until("· Ctrl-C again to leave")
    terminal.type(CTRL_C)

    assert terminal.status() == 130


REACTING = """\
import asyncio

from parlour_sdk import command, on, plugin

plugin("test/reacting", version="1.0", permissions={"events": ["*"], "platform_api": ["message.send"]})


@command("greet", aliases=["hi"])
async def greet(ctx):
    yield f"Hello {ctx.text}"


@on("message.received")
async def heard(event, ctx):
    await ctx.reply(f"heard {event.message_chain[0].text}")


@command("hang")
async def hang(ctx):
    print("hanging")
    await asyncio.sleep(600)
    yield "never"


@on("group.member_joined")
async def joined(event, ctx):
    await ctx.reply(f"welcome {event.member.user.nickname}")
"""


def test_commands_and_listeners_can_be_used_in_a_chat(tmp_path: Path) -> None:
    file = tmp_path / "reacting.py"
    file.write_text(REACTING)

    done = chat(file, said="/greet Ann\n/hi Bo\ngood morning\n/event group.member_joined\n/nothing\n/event no.event")

    lines = done.stdout.decode().splitlines()
    assert lines[:4] == ["Hello Ann", "Hello Bo", "heard good morning", "welcome User One"]
    assert lines[4] == "· there is no /nothing; /help shows what there is"
    assert lines[5].startswith("· there is no event 'no.event'; there are message.received, ")
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_cancels_a_command_that_hangs_and_the_chat_goes_on(tmp_path: Path) -> None:
    (tmp_path / "reacting.py").write_text(REACTING)
    with Terminal([PARLOUR, "plugin", "chat", "reacting.py"], tmp_path) as terminal:
        terminal.until("> ")
        terminal.enter("/hang")
        terminal.until("hanging")
        terminal.type(CTRL_C)
        terminal.until("· cancelled")
        terminal.until("> ", times=2)
        terminal.enter("/greet Ann")
        terminal.until("Hello Ann")
        terminal.enter("/quit")

        assert terminal.status() == 0


def test_an_event_waits_until_the_agent_has_answered(terminal: Terminal) -> None:
    terminal.enter("wait")
    terminal.until("waiting")
    terminal.enter("/event message.received hello")
    terminal.until("/event has to wait until the agent has answered")
    terminal.enter("/steer go")
    terminal.until("heard go")
    terminal.enter("/quit")

    assert terminal.status() == 0
