"""Tests plugin processes: killed, restarted, given up, and never outliving their Host."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.integration.conftest import HostType, MakeHost
from tests.support.commands import parlour_here
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, PUPPET, PUPPET_PLUGIN, Host, eventually, texts
from tests.support.plugins import write_plugin

pytestmark = pytest.mark.both_runtimes

QUICK = {
    "PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": "0.05",
    "PARLOUR__PLUGINS__LONGEST_RESTART_SECONDS": "0.1",
    "PARLOUR__PLUGINS__GIVE_UP_AFTER": "2",
}


def gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # the process ended between the two checks
        return True


def test_an_idle_plugin_that_is_killed_is_restarted_and_serves_again(host: Host) -> None:
    agent = host.agent(ECHO)
    process = host.plugin_process("parlour/echo-agent")

    process.kill()

    eventually(lambda: gone(process), "it is dead")
    eventually(lambda: host.plugin_process("parlour/echo-agent").pid != process.pid, "it has a new process")
    eventually(lambda: host.plugin_status("parlour/echo-agent") == "ready", "it is ready again")
    assert texts(host.ask(agent, "back again")) == ["back again"]


def test_a_message_sent_while_its_plugin_is_down_is_answered_when_it_is_back(host: Host) -> None:
    agent = host.agent(ECHO)
    host.plugin_process("parlour/echo-agent").kill()
    eventually(lambda: host.plugin_status("parlour/echo-agent") != "ready", "the Host noticed")

    assert texts(host.ask(agent, "patience")) == ["patience"]


def test_a_plugin_killed_during_a_run_that_said_nothing_answers_it_once_on_the_next_attempt(
    host: Host,
) -> None:
    agent = host.agent(PUPPET)
    start_marker = host.shared_file("begun")
    text = f"second-attempt {start_marker}"
    sent = host.send(agent, text, event_id="retried")
    eventually(start_marker.exists, "the runner was called")

    host.plugin_process("test/puppet-agent").kill()

    result = host.ask(agent, text, event_id="retried")
    assert texts(result) == ["answered on attempt 2"]
    assert result["run"]["attempt"] == 2
    first = host.run(result["run"]["parent_run_id"])
    assert (first["status"], first["status_reason"]) == ("failed", "runner.crashed")
    assert host.transcript(sent["conversation_id"]) == [("user", text), ("assistant", "answered on attempt 2")]


def test_a_plugin_that_dies_on_every_attempt_is_quarantined_visibly(host: Host, tmp_path: Path) -> None:
    killer = "import os\n\nclass results:\n    completed = staticmethod(lambda answer: os._exit(9))\n"
    host.install(write_plugin(tmp_path / "plugin", "suicidal", prelude=killer))
    eventually(lambda: host.plugin_status("test/suicidal") == "ready", "the plugin is ready")

    result = host.ask(host.agent("plugin:test/suicidal/default"), "hello")

    assert result["outcome"] == "quarantined"
    speakers = [speaker for speaker, _ in host.transcript(result["conversation_id"])]
    assert speakers == ["user", "notice"]


FAULTY = {
    "at-import": ("raise RuntimeError('no luck today')", "no luck today"),
    "foreign-name": (
        "import __main__ as worker\n\n"
        "worker.Hello = lambda **fields: type('Fake', (), {'model_dump': lambda self, **_: "
        "{**fields, 'plugin': 'parlour/echo-agent'}})()\n",
        "belongs to plugin test/foreign-name",
    ),
    "other-protocol": ("import __main__ as worker\n\nworker.PROTOCOL_VERSION = 99\n", "protocol 99"),
}


WAITS_AND_FAILS = """\
import os
import time

while not os.path.exists(os.path.join(os.environ["PARLOUR_PLUGIN_DATA"], "go on")):
    time.sleep(0.01)
raise RuntimeError("no luck today")
"""


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    """Starts a Host with one good plugin and several that can't start."""
    folder = tmp_path_factory.mktemp("troubled")
    host = host_type(folder, **QUICK)
    host.install(ECHO_PLUGIN)
    for name, (prelude, _) in FAULTY.items():
        host.install(write_plugin(folder / name, name, prelude=prelude))
    host.start()
    yield host
    host.close()


@pytest.mark.parametrize("name", FAULTY)
def test_a_plugin_that_can_not_start_is_given_up_with_its_reason_while_other_plugins_work(
    troubled: Host, name: str
) -> None:
    given_up = f"plugin test/{name} is given up after 2 failures"
    eventually(lambda: given_up in troubled.log(), f"{name} is given up")

    [line] = [line for line in troubled.log().splitlines() if given_up in line]
    assert FAULTY[name][1] in line
    assert troubled.plugin_status(f"test/{name}") == ""
    assert texts(troubled.ask(troubled.agent(), "works")) == ["works"]


def test_the_command_line_shows_reason_and_remedy_of_a_plugin_that_was_given_up(troubled: Host) -> None:
    name = "test/at-import"
    given_up = f"plugin {name} is given up after 2 failures"
    eventually(lambda: given_up in troubled.log(), "it is given up")

    listed = parlour_here("plugin", "list", "--data", troubled.home).stdout
    doctored = parlour_here("doctor", "--data", troubled.home).stdout

    [line] = [line for line in listed.splitlines() if line.startswith(name)]
    assert "failed: its process ended" in line
    assert FAULTY["at-import"][1] in line
    assert f"what it wrote: {troubled.home / 'logs' / 'plugins' / f'{name}.log'}; once that is mended" in doctored
    assert f"restart it on the page Plugins, or by POST /api/v1/plugins/{name}/restart" in doctored


def test_a_plugin_that_keeps_dying_is_shown_as_failed_and_its_agents_say_so(troubled: Host) -> None:
    agent = troubled.agent(ECHO)
    for _ in range(2):
        process = troubled.plugin_process("parlour/echo-agent")
        eventually(lambda: troubled.plugin_status("parlour/echo-agent") == "ready", "it is ready")
        process.kill()
        eventually(lambda process=process: gone(process), "it is dead")
        eventually(lambda: troubled.plugin_status("parlour/echo-agent") != "ready", "the Host noticed")
    eventually(lambda: troubled.plugin_status("parlour/echo-agent") == "failed", "it is given up")

    result = troubled.ask(agent, "anybody?")

    assert (result["outcome"], result["reason"]) == ("failed", "runner.unavailable")
    assert troubled.transcript(result["conversation_id"])[-1][0] == "notice"


@pytest.mark.long
def test_the_host_is_ready_when_each_plugin_is_ready_or_given_up_and_names_pending_ones(
    make_host: MakeHost, tmp_path: Path
) -> None:
    host = make_host(ECHO_PLUGIN, write_plugin(tmp_path / "plugin", "bad", prelude=WAITS_AND_FAILS), **QUICK)
    host.begin()
    host.address = (
        eventually(host._announcement, "the Host prints its address", 60).removeprefix("Parlour is at ").strip()
    )

    def waiting_for() -> list[str]:
        return list(httpx.get(f"{host.address}/readyz", timeout=5, verify=NO_TLS).json().get("waiting_for", ()))

    eventually(lambda: waiting_for() == ["plugin test/bad"], "its first start took too long, and it is tried again", 60)
    host.shared_file("go on", "test/bad").touch()
    host.wait_until_ready()
    [plugin] = [each for each in host.items("/plugins") if each["id"] == "test/bad"]
    assert plugin["status"] == "failed"
    assert "no luck today" in plugin["reason"]


def test_plugins_die_with_their_host_even_when_one_hangs(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, PUPPET_PLUGIN).start()
    blocked = host.shared_file("blocked")
    host.send(host.agent(PUPPET), f"block {blocked}")
    eventually(blocked.exists, "the plugin's event loop hangs")
    plugins = [host.plugin_process(plugin) for plugin in ("parlour/echo-agent", "test/puppet-agent")]

    host.kill()

    eventually(lambda: all(gone(plugin) for plugin in plugins), "the plugins are gone", 30)
    assert [plugin.pid for plugin in plugins if not gone(plugin)] == []
