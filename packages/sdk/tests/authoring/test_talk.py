"""Talking to an agent: what a script and what a person gets to see, and what is said while the agent works."""

from pathlib import Path

import pytest

from .support import script, talking, write_puppet


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


async def test_a_failure_is_told_with_its_code(puppet: Path) -> None:
    seen = await script(puppet, "fail", "hello")
    assert seen.startswith("· failed (runner.error): the agent's code failed with ValueError")
    assert seen.endswith("\nhello\n")


async def test_lines_of_a_script_wait_for_the_answer_before_them(puppet: Path) -> None:
    assert await script(puppet, "deaf", "one", "", "two") == "deaf\ndeaf no more\none\ntwo\n"


async def test_steering_and_cancelling_in_a_script_are_for_the_message_before_them(puppet: Path) -> None:
    seen = await script(puppet, "hello", "wait", "/steer and", "/steer go", "wait", "/cancel", "bye")
    assert seen == "hello\nwaiting\nheard and go\n· cancelled\nbye\n"


async def test_what_is_remembered_is_shown_and_is_gone_in_a_new_conversation(puppet: Path) -> None:
    seen = await script(puppet, "/state", "remember me", "/state", "/new", "/state")
    before, after, new = seen.replace("noted\n", "").replace("· a new conversation\n", "").split("}\n{")
    assert '"said"' not in before + new
    assert '"said": "remember me"' in after


async def test_leaving_in_a_script_comes_after_what_was_said(puppet: Path) -> None:
    async with talking(puppet, typed=False) as person:
        person.enter("hello", "/quit", "never said")
    assert person.seen == "hello\n"


async def test_an_unknown_command_is_no_message(puppet: Path) -> None:
    assert await script(puppet, "/paint it") == "· there is no /paint; /help shows what there is\n"
    assert "/cancel" in await script(puppet, "/help")


async def test_what_can_not_be_done_now_is_said(puppet: Path) -> None:
    seen = await script(puppet, "/steer left", "/cancel", "wait", "/steer", "/cancel")
    assert seen.splitlines() == [
        "· nothing is going on that could be steered",
        "· nothing is going on that could be cancelled",
        "· say what to tell it: /steer TEXT",
        "· cancelled",
    ]


async def test_a_line_that_is_typed_meanwhile_steers(puppet: Path) -> None:
    async with talking(puppet, typed=True) as person:
        await person.sees("> ")
        person.enter("wait")
        await person.sees("waiting")
        person.enter("left", "", "go")
        await person.sees("heard left go")
        await person.sees("> ", times=2)
        person.leave()
    assert "steered" not in person.seen


async def test_what_was_never_pulled_is_said_again(puppet: Path) -> None:
    async with talking(puppet, typed=True) as person:
        person.enter("deaf")
        await person.sees("deaf")
        person.enter("hello?")
        await person.sees("hello?\n")
        person.leave()
    assert person.seen.endswith("deaf no more\nhello?\n")


async def test_an_agent_that_can_not_be_steered_takes_one_message_after_the_other(puppet: Path) -> None:
    async with talking(puppet, typed=True, runner="still") as person:
        person.enter("one", "two", "/steer three")
        await person.sees("still two\n")
        person.leave()
    assert "· not steered: this runner does not declare the capability 'steering'" in person.seen
    assert "three" not in person.seen


async def test_leaving_at_a_terminal_cancels_what_goes_on(puppet: Path) -> None:
    async with talking(puppet, typed=True) as person:
        person.enter("wait")
        await person.sees("waiting")
        person.enter("/quit")
    assert "· cancelled" in person.seen


async def test_an_interrupt_cancels_the_run_and_only_that(puppet: Path) -> None:
    async with talking(puppet, typed=True) as person:
        person.enter("wait")
        await person.sees("waiting")
        person.talk.interrupt()
        await person.sees("· cancelled")
        await person.sees("> ", times=2)
        person.talk.interrupt()
        await person.sees("> ", times=3)
        person.enter("hello")
        await person.sees("hello\n")
        person.leave()


async def test_a_plugin_that_can_not_initialize_says_so_and_the_talk_goes_on(tmp_path: Path) -> None:
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
