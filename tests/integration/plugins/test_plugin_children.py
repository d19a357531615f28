"""Tests that all processes of a plugin end with it: after a crash, after a stop, and when the Host is killed."""

import os
import time

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import Host, eventually, texts
from tests.support.rogue import QUICK, ROGUE, ROGUE_ID, ROGUE_PLUGIN, sleepers

pytestmark = pytest.mark.both_runtimes

SANDBOXES = [
    pytest.param("auto", id="in its sandbox"),
    pytest.param("off", id="without a sandbox", marks=pytest.mark.long),
]


@pytest.fixture(params=SANDBOXES)
def rogue(make_host: MakeHost, request: pytest.FixtureRequest) -> Host:
    return make_host(ROGUE_PLUGIN, **QUICK, PARLOUR__PLUGINS__SANDBOX=request.param).start()


def start_daemon(host: Host) -> str:
    """Starts a daemon from the plugin and returns the argument by which it is found."""
    unique = f"86400.{time.time_ns()}{os.getpid()}"
    assert texts(host.ask(host.agent(ROGUE), f"daemon {unique}")) == ["it is on its own"]
    eventually(lambda: sleepers(unique), "there is a daemon")
    return unique


def test_a_crash_and_a_stop_leave_no_daemon_and_a_hanging_plugin_is_not_waited_for(rogue: Host) -> None:
    daemon = start_daemon(rogue)

    rogue.send(rogue.agent(ROGUE, restart_policy="never"), "crash 9")

    eventually(lambda: not sleepers(daemon), "the daemon is gone", 30)
    assert texts(rogue.ask(rogue.agent(ROGUE), "say alive")) == ["alive"]
    daemon = start_daemon(rogue)
    blocked = rogue.shared_file("blocked", ROGUE_ID)
    rogue.send(rogue.agent(ROGUE, restart_policy="never"), f"block {blocked}")
    eventually(blocked.exists, "its event loop hangs, and it ignores SIGTERM")

    rogue.stop(seconds=30)

    assert not sleepers(daemon)


def test_a_host_that_is_killed_leaves_no_daemon(rogue: Host) -> None:
    daemon = start_daemon(rogue)

    rogue.kill()

    eventually(lambda: not sleepers(daemon), "the daemon is gone", 30)
    assert sleepers(daemon) == []
