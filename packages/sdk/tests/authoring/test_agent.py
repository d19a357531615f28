"""Tests the agent of `parlour plugin chat`: built-in models, configuration with defaults, and refused options."""

from pathlib import Path

import pytest

from parlour_sdk.authoring.chat.session import ChatSetupError, create_chat
from parlour_sdk.plugin import load, read_plugin

from .support import script, write_puppet


@pytest.fixture
def puppet(tmp_path: Path) -> Path:
    return write_puppet(tmp_path)


async def test_the_default_model_repeats_the_question(puppet: Path) -> None:
    assert await script(puppet, "model of what?") == "You said: model of what?\n"


async def test_a_model_answers_with_the_lines_of_a_file_in_order(puppet: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("First.\n\nSecond, äöü.\n", encoding="utf-8")

    seen = await script(puppet, "model", "model", "model", model=str(tmp_path / "answers.txt"))

    assert seen == "First.\nSecond, äöü.\nFirst.\n"


def test_values_of_the_configuration_have_the_types_of_the_form(puppet: Path) -> None:
    agent = create_chat(load(read_plugin(puppet)), None, ["times=3", "name=12", "model=gpt=4"], "echo")
    assert agent.config == {"times": 3, "name": "12", "model": "gpt=4", "tools": ["test/puppet.double"]}


@pytest.mark.parametrize(
    ("runner", "pairs", "model", "sentence"),
    [
        ("absent", [], "echo", "--runner: this plugin has no runner 'absent'; it has default, still"),
        (None, ["times"], "echo", "--config times: write it as name=value"),
        (None, ["times=many"], "echo", "--config: 'times' must be of type integer, not str"),
        (None, ["colour=red"], "echo", "--config: 'colour' is unknown; this runner takes model, tools, times, name"),
        (None, [], "/nowhere/x", "--model /nowhere/x: name 'echo' or a file with one answer a line"),
        (None, [], "/dev/null", "--model /dev/null: the file is empty"),
    ],
)
def test_an_invalid_option_is_refused_before_the_chat_starts(
    puppet: Path, runner: str | None, pairs: list[str], model: str, sentence: str
) -> None:
    with pytest.raises(ChatSetupError) as refused:
        create_chat(load(read_plugin(puppet)), runner, pairs, model)
    assert str(refused.value).startswith(sentence)


def test_a_plugin_without_an_agent_command_or_listener_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text('from parlour_sdk import plugin\n\nplugin("test/tools", version="1")\n')
    with pytest.raises(ChatSetupError, match="test/tools has no AgentRunner, Command or EventListener"):
        create_chat(load(read_plugin(file)), None, [], "echo")
