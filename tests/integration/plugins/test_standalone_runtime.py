"""Tests a standalone plugin runtime: connections that are lost and restored, one Host at a time, and tokens."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.commands import parlour_here, refusal
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, PUPPET, PUPPET_PLUGIN, Host, error_code, eventually, texts
from tests.support.network import network_to
from tests.support.rogue import ROGUE, ROGUE_ID, ROGUE_PLUGIN, pids, plugin
from tests.support.standalone import Runtime, StandaloneHost

QUICK = {
    "PARLOUR__RUNTIME__FIRST_RETRY_SECONDS": "0.05",
    "PARLOUR__RUNTIME__LONGEST_RETRY_SECONDS": "0.2",
    "PARLOUR__RUNTIME__SILENCE_SECONDS": "2",
}
GONE = "is gone; its runs are cancelled"
MakeHost = Callable[..., Host]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """Starts a runtime with the puppet. It serves one Host at a time, and each test has its own Host."""
    runtime = Runtime(tmp_path_factory.mktemp("runtime"), **QUICK)
    assert parlour_here("plugin", "install", PUPPET_PLUGIN, "--data", runtime.data).returncode == 0
    yield runtime.start()
    runtime.close()


@pytest.fixture
def make_client_host(tmp_path: Path, runtime: Runtime) -> Iterator[MakeHost]:
    """Creates Hosts that use that runtime and closes them after the test."""
    made: list[Host] = []

    def make(**settings: object) -> Host:
        folder = tmp_path / f"host{len(made)}"
        folder.mkdir()
        host = Host(folder, **{**QUICK, "PARLOUR__RUNTIME__URL": runtime.url, **settings})
        host.home = runtime.data
        made.append(host)
        return host

    yield make
    for host in made:
        host.close()


def begin(host: Host) -> Host:
    host.begin()
    line = eventually(host._announcement, "the Host prints its address", 60)
    host.address = line.splitlines()[0].removeprefix("Parlour is at ")
    return host


def waiting_for(host: Host) -> str:
    return "; ".join(httpx.get(f"{host.address}/readyz", timeout=5, verify=NO_TLS).json().get("waiting_for", ()))


def test_a_wrong_token_is_reported_everywhere_and_the_right_one_in_its_file_connects(
    runtime: Runtime, make_client_host: MakeHost, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("wrong")
    host = begin(make_client_host(PARLOUR__RUNTIME__TOKEN_FILE=file))

    eventually(lambda: "doesn't accept the token" in waiting_for(host), "/readyz says why")
    shown = host.http().get("/plugins")
    assert (shown.status_code, error_code(shown)) == (503, "runtime_unavailable")
    assert "doesn't accept the token" in shown.text
    assert host.log().count("doesn't accept the token") == 1
    assert "wrong" not in host.log() + runtime.log()

    file.write_text(f"{runtime.token()}\n")

    host.wait_until_ready()
    assert texts(host.ask(host.agent(PUPPET), "say hello")) == ["hello"]


def test_a_missing_token_file_is_named(make_client_host: MakeHost, tmp_path: Path) -> None:
    host = begin(make_client_host(PARLOUR__RUNTIME__TOKEN_FILE=tmp_path / "nowhere"))

    eventually(lambda: str(tmp_path / "nowhere") in waiting_for(host), "/readyz names the file")
    assert httpx.get(f"{host.address}/readyz", timeout=5, verify=NO_TLS).status_code == 503


def test_a_revoked_token_ends_its_hosts_connection(runtime: Runtime, make_client_host: MakeHost) -> None:
    host = make_client_host(PARLOUR__RUNTIME__TOKEN=runtime.token("one to go")).start()
    listed = parlour_here("runtime", "token", "list", "--data", runtime.data).stdout.splitlines()
    [line] = [each for each in listed if each.endswith("one to go")]
    token_id, state, _ = line.split(maxsplit=2)
    assert state == "active"

    assert parlour_here("runtime", "token", "revoke", token_id, "--data", runtime.data).returncode == 0

    eventually(lambda: "doesn't accept the token" in (plugin(host, "test/puppet-agent")["reason"] or ""), "it is out")
    assert "revoked" in parlour_here("runtime", "token", "list", "--data", runtime.data).stdout
    assert token_id in refusal("runtime", "token", "revoke", token_id, "--data", runtime.data)


def test_a_token_is_stored_nowhere_in_clear_text(runtime: Runtime) -> None:
    token = runtime.token()

    stored = [file for file in runtime.data.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]
    assert stored == []


def test_a_runtime_without_a_token_says_how_to_make_one(runtime: Runtime) -> None:
    assert any("parlour runtime token create" in line for line in runtime.printed())


def test_runs_fail_at_once_when_the_runtime_is_killed_and_work_again_when_it_is_back(
    runtime: Runtime, make_client_host: MakeHost
) -> None:
    host = make_client_host(PARLOUR__RUNTIME__TOKEN=runtime.token()).start()
    never, auto = host.agent(PUPPET, restart_policy="never"), host.agent(PUPPET)
    host.send(never, "sleep", event_id="cut off")
    host.active_run(never)
    start_marker = host.shared_file("begun")
    host.send(auto, f"second-attempt {start_marker}", event_id="retried")
    eventually(start_marker.exists, "the runner was called")

    runtime.kill()

    result = host.ask(never, "sleep", event_id="cut off")
    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    eventually(lambda: plugin(host, "test/puppet-agent")["status"] == "waiting", "the Host shows that it is away")
    assert "can't be used" in plugin(host, "test/puppet-agent")["reason"]
    runtime.start()
    assert texts(host.ask(auto, f"second-attempt {start_marker}", event_id="retried")) == ["answered on attempt 2"]
    assert plugin(host, "test/puppet-agent")["status"] == "ready"


@pytest.mark.parametrize("way", ["cut", "silence"])
@pytest.mark.long
def test_runs_fail_when_the_network_breaks_and_work_again_when_it_is_restored(
    runtime: Runtime, make_client_host: MakeHost, way: str
) -> None:
    with network_to(runtime.url) as network:
        url, token = network.url, runtime.token()
        host = make_client_host(PARLOUR__RUNTIME__TOKEN=token, PARLOUR__RUNTIME__URL=url).start()
        before = host.plugin_process("test/puppet-agent").pid
        agent = host.agent(PUPPET, restart_policy="never")
        host.send(agent, "sleep", event_id="cut off")
        host.active_run(agent)

        before_it = runtime.log().count(GONE)

        getattr(network, way)()

        result = host.ask(agent, "sleep", event_id="cut off")
        assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
        eventually(lambda: runtime.log().count(GONE) > before_it, "the runtime noticed, too", 30)
        network.restore()
        assert texts(host.ask(agent, "say hello")) == ["hello"]
        assert host.plugin_process("test/puppet-agent").pid == before


@pytest.mark.long
def test_plugins_survive_a_kill_of_their_host_and_its_runs_do_not(tmp_path: Path) -> None:
    host = StandaloneHost(tmp_path, **QUICK)
    try:
        host.install(ROGUE_PLUGIN)
        host.start()
        agent = host.agent(ROGUE, restart_policy="never")
        gates = [host.shared_file(f"gate {number}", ROGUE_ID) for number in range(3)]
        for gate in gates:  # as many runs as the plugin accepts
            host.send(agent, f"gate {gate}", conversation_id=gate.name)
        for gate in gates:
            eventually(Path(f"{gate}.begun").exists, "the run has begun")
        before = pids(host)

        Host.kill(host)
        host.start()

        assert pids(host) == before
        for number in range(3):
            assert texts(host.ask(agent, f"say {number}", conversation_id=f"new {number}")) == [str(number)]
        assert [run["status"] for run in host.items("/runs", agent_id=agent, status="running")] == []
    finally:
        host.close()


@pytest.mark.long
def test_a_plugin_that_was_given_up_is_started_again_for_the_next_host(tmp_path: Path) -> None:
    host = StandaloneHost(tmp_path, **QUICK, PARLOUR__PLUGINS__GIVE_UP_AFTER=1)
    try:
        host.install(ROGUE_PLUGIN)
        host.start()
        host.send(host.agent(ROGUE, restart_policy="never"), "crash 9")
        eventually(lambda: plugin(host)["status"] == "failed", "it is given up")

        Host.stop(host)
        host.start()

        eventually(lambda: plugin(host)["status"] == "ready", "it was tried again")
        assert texts(host.ask(host.agent(ROGUE), "say back")) == ["back"]
    finally:
        host.close()


@pytest.mark.long
def test_a_second_host_is_refused_with_a_reason_until_the_first_disconnects(
    runtime: Runtime, make_client_host: MakeHost
) -> None:
    first = make_client_host(PARLOUR__RUNTIME__TOKEN=runtime.token("the first")).start()
    second = begin(make_client_host(PARLOUR__RUNTIME__TOKEN=runtime.token("the second")))

    eventually(lambda: "serves one Host at a time" in waiting_for(second), "the second gets the reason")
    assert "'the first'" in waiting_for(second)
    assert texts(first.ask(first.agent(PUPPET), "say mine")) == ["mine"]

    first.close()

    second.wait_until_ready()
    assert texts(second.ask(second.agent(PUPPET), "say mine")) == ["mine"]


@pytest.mark.long
def test_a_host_sees_plugins_that_are_installed_and_removed_at_the_runtime(
    runtime: Runtime, make_client_host: MakeHost
) -> None:
    host = make_client_host(PARLOUR__RUNTIME__TOKEN=runtime.token()).start()

    host.install(ECHO_PLUGIN)

    eventually(lambda: host.plugin_status("parlour/echo-agent") == "ready", "the Host has its runner")
    assert texts(host.ask(host.agent(ECHO), "anybody?")) == ["anybody?"]
    words = ("plugin", "remove", "parlour/echo-agent", "--data", runtime.data)
    assert parlour_here(*words).returncode == 0
    eventually(lambda: host.plugin_status("parlour/echo-agent") == "", "its runner is gone")


def test_a_host_says_where_its_plugins_are_installed(runtime: Runtime, tmp_path: Path) -> None:
    settings = {"PARLOUR__RUNTIME__URL": runtime.url, "PARLOUR__RUNTIME__TOKEN": "x"}

    sentence = refusal("plugin", "install", ECHO_PLUGIN, "--data", tmp_path / "host", environment=settings)

    assert runtime.url in sentence
    assert not (tmp_path / "host" / "plugins").exists()


@pytest.mark.parametrize("listen", ["nonsense", "127.0.0.1", "127.0.0.1:99999", "192.0.2.1:5310"])
def test_an_unusable_listen_address_is_named(tmp_path: Path, listen: str) -> None:
    sentence = refusal("runtime", "--data", tmp_path, "--listen", listen)

    assert listen in sentence or "127.0.0.1:5310" in sentence


def test_a_port_in_use_and_a_data_directory_in_use_are_named(runtime: Runtime, tmp_path: Path) -> None:
    listen = runtime.url.removeprefix("ws://")

    assert listen in refusal("runtime", "--data", tmp_path / "other", "--listen", listen)
    assert "already served" in refusal("runtime", "--data", runtime.data, "--listen", "127.0.0.1:0")
