"""Tests chats with an agent: the output for scripts and at terminals, and messages during a run."""

from pathlib import Path

import pytest

from .support import chatting, script, write_puppet


@pytest.fixture
def puppet(tmp_path: Path) -> Path:
    return write_puppet(tmp_path)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("hello", "hello\n"),
        ("fragments", "left over\n"),
        ("late", "at the end\n"),
        ("other", "draft\nfinal\n"),
        ("silent", "· it chose to say nothing\n"),
        ("tool", '· tool double {"number": 4}\n· tool double: 8\ndone\n'),
    ],
)
async def test_each_message_is_shown_once(puppet: Path, said: str, shown: str) -> None:
    assert await script(puppet, said) == shown


async def test_a_failure_is_shown_with_its_code(puppet: Path) -> None:
    seen = await script(puppet, "fail", "hello")
    assert seen.startswith("· failed (runner.error): the agent's code failed with ValueError")
    assert seen.endswith("\nhello\n")


async def test_a_line_of_a_script_waits_for_the_previous_answer(puppet: Path) -> None:
    assert await script(puppet, "deaf", "one", "", "two") == "deaf\ndeaf no more\none\ntwo\n"


async def test_steering_and_cancellation_in_a_script_apply_to_the_previous_message(puppet: Path) -> None:
    seen = await script(puppet, "hello", "wait", "/steer and", "/steer go", "wait", "/cancel", "bye")
    assert seen == "hello\nwaiting\nheard and go\n· cancelled\nbye\n"


async def test_state_is_shown_and_is_empty_in_a_new_conversation(puppet: Path) -> None:
    seen = await script(puppet, "/state", "remember me", "/state", "/new", "/state")
    before, after, new = seen.replace("noted\n", "").replace("· a new conversation\n", "").split("}\n{")
    assert '"said"' not in before + new
    assert '"said": "remember me"' in after


async def test_quit_in_a_script_ends_the_chat_after_the_previous_answer(puppet: Path) -> None:
    async with chatting(puppet, typed=False) as user:
        user.enter("hello", "/quit", "never said")
    assert user.seen == "hello\n"


async def test_an_unknown_command_is_reported_and_not_sent(puppet: Path) -> None:
    assert await script(puppet, "/paint it") == "· there is no /paint; /help shows what there is\n"
    assert "/cancel" in await script(puppet, "/help")


async def test_a_command_that_is_not_possible_now_is_reported(puppet: Path) -> None:
    seen = await script(puppet, "/steer left", "/cancel", "wait", "/steer", "/cancel")
    assert seen.splitlines() == [
        "· nothing is going on that could be steered",
        "· nothing is going on that could be cancelled",
        "· say what to tell it: /steer TEXT",
        "· cancelled",
    ]


async def test_a_line_typed_during_a_run_steers_it(puppet: Path) -> None:
    async with chatting(puppet, typed=True) as user:
        await user.sees("> ")
        user.enter("wait")
        await user.sees("waiting")
        user.enter("left", "", "go")
        await user.sees("heard left go")
        await user.sees("> ", times=2)
        user.leave()
    assert "steered" not in user.seen


async def test_a_steering_message_that_was_not_pulled_is_sent_as_the_next_message(puppet: Path) -> None:
    async with chatting(puppet, typed=True) as user:
        user.enter("deaf")
        await user.sees("deaf")
        user.enter("hello?")
        await user.sees("hello?\n")
        user.leave()
    assert user.seen.removesuffix("> ").endswith("deaf no more\nhello?\n")  # a prompt, if the user left after it


async def test_an_agent_without_steering_answers_one_message_after_the_other(puppet: Path) -> None:
    async with chatting(puppet, typed=True, runner="still") as user:
        user.enter("one", "two", "/steer three")
        await user.sees("still two\n")
        user.leave()
    assert "· not steered: this runner does not declare the capability 'steering'" in user.seen
    assert "three" not in user.seen


async def test_quit_at_a_terminal_cancels_the_run(puppet: Path) -> None:
    async with chatting(puppet, typed=True) as user:
        user.enter("wait")
        await user.sees("waiting")
        user.enter("/quit")
    assert "· cancelled" in user.seen


async def test_an_interrupt_cancels_the_run_and_the_chat_continues(puppet: Path) -> None:
    async with chatting(puppet, typed=True) as user:
        user.enter("wait")
        await user.sees("waiting")
        user.talk.interrupt()
        await user.sees("· cancelled")
        await user.sees("> ", times=2)
        user.talk.interrupt()
        await user.sees("> ", times=3)
        user.enter("hello")
        await user.sees("hello\n")
        user.leave()
    assert user.seen.count("· cancelled") == 1


async def test_a_failed_initialization_is_reported_and_the_chat_continues(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(
        "apiVersion: parlour/v1\nkind: Plugin\nmetadata: {author: test, name: broken, version: '1'}\n"
        "spec: {components: [r.yaml]}\nexecution: {python: {path: main.py, attr: Main}}\n"
    )
    (tmp_path / "r.yaml").write_text(
        "apiVersion: parlour/v1\nkind: AgentRunner\nmetadata: {name: default}\n"
        "execution: {python: {path: main.py, attr: Runner}}\n"
    )
    (tmp_path / "main.py").write_text(
        "from parlour_sdk import AgentRunner, Plugin, results\n\n\n"
        "class Main(Plugin):\n    async def initialize(self, api):\n        raise OSError('no such thing')\n\n\n"
        "class Runner(AgentRunner):\n    async def run(self, ctx, api):\n        yield results.silent()\n"
    )
    assert await script(tmp_path, "hello", "/new") == (
        "· it could not be run: OSError: no such thing\n· a new conversation\n"
    )
