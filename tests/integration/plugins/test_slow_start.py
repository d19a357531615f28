"""Tests that a plugin that hangs while the Host starts delays only its own events."""

from pathlib import Path

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import ECHO, ECHO_PLUGIN, eventually, texts
from tests.support.plugins import write_plugin

HANGS_WHILE_FILE_EXISTS = """
import os, pathlib, time

while pathlib.Path(os.environ["PARLOUR_PLUGIN_DATA"], "hang").exists():
    time.sleep(0.05)
"""

LISTENER = f"""{HANGS_WHILE_FILE_EXISTS}
from parlour_sdk import on, plugin

plugin("test/ears", version="0.1.0", permissions={{"events": ["*"]}})


@on("message.received", observe=True)
async def hear(event, ctx):
    with pathlib.Path(os.environ["PARLOUR_PLUGIN_DATA"], "heard.txt").open("a") as file:
        file.write(f"{{event.event_id}}\\n")
"""


@pytest.mark.long
def test_other_agents_answer_while_a_plugin_hangs_at_the_start_and_its_own_events_are_answered_later(
    make_host: MakeHost, tmp_path: Path
) -> None:
    host = make_host(PARLOUR__PLUGINS__START_SECONDS=30)
    host.install(ECHO_PLUGIN)
    host.install(write_plugin(tmp_path / "sleeper", "sleeper", prelude=HANGS_WHILE_FILE_EXISTS, answer="awake"))
    host.start()
    echo, sleeper = host.agent(ECHO), host.agent("plugin:test/sleeper/default")
    assert texts(host.ask(sleeper, "are you there?")) == ["awake"]
    host.stop()
    hang = host.shared_file("hang", "test/sleeper")
    hang.touch()

    host.begin()
    host.wait_until_announced()
    host.send(sleeper, "and now?", event_id="waits")
    assert texts(host.ask(echo, "hello")) == ["hello"]
    assert host.items("/runs", agent_id=sleeper, status="running") == []

    hang.unlink()
    assert texts(host.ask(sleeper, "and now?", event_id="waits")) == ["awake"]
    eventually(host.is_ready, "the Host is ready")


@pytest.mark.long
def test_a_listener_receives_the_events_that_it_missed_while_it_hung_at_the_start(
    make_host: MakeHost, tmp_path: Path
) -> None:
    ears = tmp_path / "ears.py"
    ears.write_text(LISTENER)
    host = make_host(PARLOUR__PLUGINS__START_SECONDS=30)
    host.install(ECHO_PLUGIN)
    host.install(ears)
    host.start()
    echo = host.agent(ECHO)
    host.ask(echo, "hello", event_id="before")
    file = host.shared_file("heard.txt", "test/ears")

    def received() -> set[str]:
        """Returns the ids of the events that the plugin received at least once."""
        return set(file.read_text().splitlines()) if file.exists() else set()

    eventually(lambda: received() == {"before"}, "it listens")
    host.stop()
    hang = host.shared_file("hang", "test/ears")
    hang.touch()

    host.begin()
    host.wait_until_announced()
    assert texts(host.ask(echo, "hello", event_id="meanwhile")) == ["hello"]
    assert received() == {"before"}

    hang.unlink()
    eventually(lambda: received() == {"before", "meanwhile"}, "it received the missed event", 60)
