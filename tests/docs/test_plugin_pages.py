"""Tests the pages for plugin authors: each block is run, and each call, event, permission and form field is named."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from parlour_sdk import agents
from parlour_sdk.api import AgentRunAPI, PluginAPI
from parlour_sdk.protocol.component_specs import SPECS
from parlour_sdk.protocol.form import FormType
from parlour_sdk.protocol.manifest import Capabilities, Permissions, PluginPermissions
from parlour_sdk.protocol.platform_events import EVENTS
from tests.docs.pages import ROOT, Reader, blocks

PAGES = ROOT / "docs" / "plugins"
MINUTE = 60.0


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    folder = tmp_path / "a folder"
    folder.mkdir()
    reader = Reader(folder)
    yield reader
    reader.close()


SHORT_PAGES = {"model-agent"}
"""Pages that are executed in every test run; others start a dozen processes each. The README has the first commands of
`first-agent`, and `tests/walkthrough` executes them.
"""


def pages() -> Iterator[Any]:
    for page in sorted(PAGES.glob("*.md")):
        if "```" in page.read_text():
            yield pytest.param(page.stem, marks=() if page.stem in SHORT_PAGES else pytest.mark.long)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", list(pages()))
def test_a_page_does_what_it_says(reader: Reader, name: str) -> None:
    for block in blocks(PAGES / f"{name}.md"):
        reader.do(block)
    reader.run_tests()


@pytest.mark.long
def test_three_commands_give_a_tested_agent_to_talk_to_in_under_a_minute(reader: Reader) -> None:
    commands, expected = list(blocks(PAGES / "first-agent.md"))[:2]
    assert len(commands.code.splitlines()) == 3

    reader.do(commands)

    reader.do(expected)
    assert "4 passed" in reader.output
    [seconds] = reader.seconds
    assert seconds < MINUTE


def test_every_block_of_a_page_is_found() -> None:
    """A fence that the pattern does not match would never be run."""
    for page in PAGES.glob("*.md"):
        assert 2 * len(list(blocks(page))) == len(re.findall(r"^\s*```", page.read_text(), re.M)), page


@pytest.mark.parametrize("api", [AgentRunAPI, PluginAPI])
def test_the_api_page_names_every_call(api: type[Any]) -> None:
    page = (PAGES / "api.md").read_text()
    missing = [call for call in calls(api) if f"`{call}(" not in page]
    assert missing == []


def calls(api: type[Any]) -> Iterator[str]:
    """Returns `namespace.method` of each call that an instance really has."""
    made = api(None, "run") if api is AgentRunAPI else api(None)
    for namespace in (name for name in dir(made) if not name.startswith("_")):
        for name, _ in inspect.getmembers(getattr(made, namespace), inspect.ismethod):
            if not name.startswith("_"):
                yield f"{namespace}.{name}"


def test_every_part_of_an_agent_is_named() -> None:
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    parts = [name for names in agents.LAZY_EXPORTS.values() for name in names]
    assert [name for name in parts if not re.search(rf"`{name}\b", text)] == []


def test_the_manifest_page_names_every_field() -> None:
    page = (PAGES / "manifest.md").read_text()
    words = [
        *Capabilities.model_fields,
        *Permissions.model_fields,
        *PluginPermissions.model_fields,
        *get_args(FormType),
    ]
    assert [word for word in words if f"`{word}`" not in page] == []
    assert [kind for kind in SPECS if f"| {kind} |" not in page] == []
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \| (?:both|runner|plugin) \|$", page, re.M))
    for model in (Permissions, PluginPermissions):
        for key, field in model.model_fields.items():
            for literal in get_args(get_args(field.annotation)[0]):
                assert literal in rows[key] or key == "events", (key, literal)


def test_the_listener_page_names_every_event_with_its_class() -> None:
    rows = [line for line in (PAGES / "event-listener.md").read_text().splitlines() if line.startswith("| `")]
    for name, event in EVENTS.items():
        assert any(f"`{name}`" in row and f"`{event.__name__}`" in row for row in rows), name
