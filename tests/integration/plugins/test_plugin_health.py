"""Tests that a plugin whose event loop hangs is restarted, and that a slow plugin or one of a paused Host is not."""

import time
from collections.abc import Iterator

import pytest

from tests.integration.conftest import HostType, MakeHost
from tests.support.harness import PUPPET, PUPPET_PLUGIN, Host, eventually, texts
from tests.support.rogue import QUICK, ROGUE, ROGUE_ID, ROGUE_PLUGIN, pids, plugin

pytestmark = pytest.mark.both_runtimes

PINGS = {"PARLOUR__PLUGINS__PING_SECONDS": "0.3", "PARLOUR__PLUGINS__MISSED_PINGS": "2"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    host = host_type(tmp_path_factory.mktemp("pinging"), **PINGS)
    host.install(ROGUE_PLUGIN)
    host.start()
    yield host
    host.close()


def test_a_hung_plugin_is_ended_with_the_reason_its_runs_fail_and_it_serves_again(host: Host) -> None:
    agent = host.agent(ROGUE, restart_policy="never")
    blocked = host.shared_file("blocked", ROGUE_ID)
    host.send(agent, f"block {blocked}", event_id="hangs")
    eventually(blocked.exists, "its event loop hangs")

    seen = eventually(lambda: (it := plugin(host))["status"] == "waiting" and it, "the Host noticed")

    assert str(seen["reason"]).startswith("its event loop did not answer for 0.6 s")
    result = host.ask(agent, f"block {blocked}", event_id="hangs")
    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    assert texts(host.ask(agent, "say hello")) == ["hello"]


def test_plugins_are_not_restarted_after_the_host_itself_was_paused(host: Host) -> None:
    eventually(lambda: plugin(host)["status"] == "ready", "it is ready", 30)
    before, blamed = pids(host), host.log().count("did not answer")

    host.process.suspend()
    time.sleep(2)  # three times as long as a plugin may be silent
    host.process.resume()

    assert texts(host.ask(host.agent(ROGUE), "say hello")) == ["hello"]
    assert pids(host) == before
    assert host.log().count("did not answer") == blamed


@pytest.mark.long
def test_a_plugin_that_floods_is_slowed_and_not_treated_as_hung(make_host: MakeHost) -> None:
    host = make_host(PUPPET_PLUGIN, PARLOUR__PLUGINS__FRAMES_PER_SECOND=60, **PINGS).start()
    before = pids(host, "test/puppet-agent")

    started_at = time.monotonic()
    result = host.ask(host.agent(PUPPET), "flood 300")

    assert time.monotonic() - started_at > 3, "the flood was not slowed, so this test tells nothing"
    assert texts(result) == ["flooded"]
    assert pids(host, "test/puppet-agent") == before


@pytest.mark.long
def test_a_plugin_that_hangs_again_and_again_is_given_up(make_host: MakeHost) -> None:
    host = make_host(ROGUE_PLUGIN, **PINGS, **QUICK, PARLOUR__PLUGINS__GIVE_UP_AFTER=2).start()
    agent = host.agent(ROGUE, restart_policy="never")
    for number in range(2):
        blocked = host.shared_file(f"blocked {number}", ROGUE_ID)
        host.send(agent, f"block {blocked}")
        eventually(blocked.exists, "its event loop hangs")
        eventually(lambda: "did not answer" in (plugin(host)["reason"] or ""), "the Host noticed")
        eventually(lambda: plugin(host)["status"] in ("ready", "failed"), "it is back, or given up")

    eventually(lambda: plugin(host)["status"] == "failed", "it is given up")
    assert "did not answer for 0.6 s" in plugin(host)["reason"]
    restarted = host.http().post(f"/plugins/{ROGUE_ID}/restart")
    assert restarted.status_code == 200, restarted.text
    assert texts(host.ask(agent, "say back")) == ["back"]
