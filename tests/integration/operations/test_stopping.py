"""Tests the end of a Host: in time, without remaining processes, and with every message answered later."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import ECHO, ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN, Host, Json, eventually, processes_below
from tests.support.plugins import write_plugin

pytestmark = pytest.mark.quiet


def test_an_idle_host_ends_on_sigterm_and_leaves_no_process(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN).start()
    assert len(processes_below(host.data)) > 1

    host.stop(seconds=10)


HANG = """
import pathlib
import time


class results:
    @staticmethod
    def completed(answer):
        pathlib.Path({path!r}).touch()
        time.sleep(600)
"""


@dataclass
class StoppedHost:
    """Describes a Host that was stopped while two runs were active and a third hung its plugin, and started again."""

    host: Host
    silent: Json
    speaking: Json
    seconds: float
    """Seconds that the stop took."""


@pytest.fixture(scope="module")
def stopped_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoppedHost]:
    folder = tmp_path_factory.mktemp("cut-off")
    host = Host(folder)
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    blocked = host.shared_file("blocked", "test/hanging")
    host.install(write_plugin(folder / "hanging", "hanging", prelude=HANG.format(path=str(blocked))))
    host.start()
    puppet = host.agent(PUPPET)
    echo = host.agent(ECHO, config={"hold_ms": 600_000, "remember": True})
    start_marker = host.shared_file("begun")
    silent = {"agent_id": puppet, "text": f"second-attempt {start_marker}", "event_id": "silent"}
    speaking = {"agent_id": echo, "text": "hello there", "event_id": "speaking"}
    host.send(**silent)
    host.send(**speaking)
    host.send(host.agent("plugin:test/hanging/default", restart_policy="never"), "hang")
    eventually(blocked.exists, "a plugin's event loop hangs")
    eventually(start_marker.exists, "the silent runner was called")
    run_id = host.active_run(echo)
    eventually(lambda: host.items(f"/runs/{run_id}/events"), "the other run began to speak")

    begun_to_stop = time.monotonic()
    host.stop()
    seconds = time.monotonic() - begun_to_stop
    host.start()
    yield StoppedHost(host, silent, speaking, seconds)
    host.close()


def test_a_host_with_active_runs_and_a_hanging_plugin_ends_within_ten_seconds(stopped_host: StoppedHost) -> None:
    assert stopped_host.seconds < 10


def test_a_run_without_effects_that_a_stop_interrupts_is_answered_after_the_next_start(
    stopped_host: StoppedHost,
) -> None:
    result = stopped_host.host.ask(**stopped_host.silent)

    assert result["outcome"] == "answered"
    assert stopped_host.host.transcript(result["conversation_id"]) == [
        ("user", stopped_host.silent["text"]),
        ("assistant", "answered on attempt 2"),
    ]
    parent = stopped_host.host.run(result["run"]["parent_run_id"])
    assert (parent["status"], parent["status_reason"]) == ("failed", "interrupted")


def test_the_sender_of_a_run_with_effects_that_a_stop_interrupts_is_notified_after_the_next_start(
    stopped_host: StoppedHost,
) -> None:
    result = stopped_host.host.ask(**stopped_host.speaking)

    assert (result["outcome"], result["reason"]) == ("failed", "interrupted")
    said = stopped_host.host.transcript(result["conversation_id"])
    assert [speaker for speaker, _ in said] == ["user", "notice"]
    assert "interrupted" in said[1][1]
