"""Tests upgrades and removals by the command line: the active version serves until a newer one has started."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour, parlour_here, refusal
from tests.support.harness import ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN, Host, Json, eventually, texts
from tests.support.plugins import write_plugin, write_remembering_plugin

QUICK = {"PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": "0.05", "PARLOUR__PLUGINS__GIVE_UP_AFTER": "2"}
HANGING = (
    "import os, pathlib, time\n"
    "while not (pathlib.Path(os.environ['PARLOUR_PLUGIN_DATA']) / 'open').exists():\n    time.sleep(0.01)\n"
)
"""Code that waits until a test creates a file in the plugin's data folder."""
START_FAILURES = {
    "a crash": ("raise RuntimeError('no luck today')", "no luck today"),
    "another protocol": (
        "import parlour_sdk.protocol.base as base\nimport parlour_sdk.worker as worker\n"
        "import __main__ as main\n"
        "for module in (base, worker, main):\n    module.PROTOCOL_VERSION = 99\n",
        "protocol 99",
    ),
    "an end without a word": ("import os\nos._exit(7)", "exit status 7"),
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that gives up on a plugin soon."""
    host = Host(tmp_path_factory.mktemp("upgraded host"), **QUICK)
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    host.start()
    yield host
    host.close()


def plugin_response(host: Host, plugin_id: str) -> Json:
    return next((each for each in host.items("/plugins") if each["id"] == plugin_id), {})


def listed_line(data: Path, plugin_id: str) -> str:
    lines = parlour_here("plugin", "list", "--data", data).stdout.splitlines()
    return next((each for each in lines if each.startswith(f"{plugin_id} ")), "")


def folders(data: Path, plugin_id: str) -> list[str]:
    return [path.name for path in (data / "plugins" / plugin_id).glob("*/")]


@pytest.mark.parametrize("fault", START_FAILURES)
def test_a_version_that_does_not_start_is_not_activated_and_the_old_one_keeps_answering(
    own: Host, tmp_path: Path, fault: str
) -> None:
    name = f"upgraded-{list(START_FAILURES).index(fault)}"
    plugin_id = f"test/{name}"
    prelude, reason = START_FAILURES[fault]
    own.install(write_plugin(tmp_path / "good", name, answer="good"))
    agent = own.agent(f"plugin:{plugin_id}/default")
    bad = write_plugin(tmp_path / "bad", name, version="0.2.0", answer="bad", prelude=prelude)

    with ThreadPoolExecutor(1) as elsewhere:
        installing = elsewhere.submit(parlour_here, "plugin", "install", bad, "--data", own.data)
        answers = [texts(own.ask(agent, "who?"))]
        while not installing.done():
            answers.append(texts(own.ask(agent, "who?")))
        done = installing.result()

    assert done.returncode == 1
    assert done.stdout == "", "nothing is said to be installed that is not"
    assert f"{plugin_id} 0.2.0 could not be started, and 0.1.0 goes on" in done.stderr
    assert reason in done.stderr
    assert answers == [["good"]] * len(answers)
    facts = plugin_response(own, plugin_id)
    assert (facts["version"], facts["status"]) == ("0.1.0", "ready")
    assert "0.2.0 could not be started" in facts["reason"]
    assert "0.2.0 could not be started" in listed_line(own.data, plugin_id)
    assert len(folders(own.data, plugin_id)) == 1


def test_a_plugin_that_hangs_at_its_start_does_not_block_the_installation_of_another(own: Host, tmp_path: Path) -> None:
    gate = own.data / "plugin-data" / "test" / "hanging" / "open"
    slow = write_plugin(tmp_path / "slow", "hanging", prelude=HANGING)

    with ThreadPoolExecutor(1) as elsewhere:
        installing = elsewhere.submit(parlour, "plugin", "install", slow, "--data", own.data)
        eventually(lambda: plugin_response(own, "test/hanging").get("status") == "starting", "it starts")
        own.install(write_plugin(tmp_path / "quick", "quick"))
        assert not installing.done()
        gate.touch()
        assert installing.result().returncode == 0


def test_a_run_that_is_active_during_an_upgrade_ends_normally(own: Host) -> None:
    agent = own.agent(PUPPET)
    gate = own.shared_file("gate during the upgrade")
    text = f"gate {gate}"
    own.send(agent, text, event_id="long run")
    run_id = own.active_run(agent)

    own.install(PUPPET_PLUGIN)
    assert texts(own.ask(agent, "say new", conversation_id="another")) == ["new"]
    assert own.run(run_id)["status"] == "running"
    gate.touch()

    assert texts(own.ask(agent, text, event_id="long run")) == ["waiting is over"]
    assert own.run(run_id)["attempt"] == 1


@pytest.mark.long
def test_a_disabled_plugin_is_upgraded_when_it_is_enabled_and_falls_back_if_that_fails(
    own: Host, tmp_path: Path
) -> None:
    own.install(write_plugin(tmp_path / "good", "resting", answer="good"))
    agent = own.agent("plugin:test/resting/default")
    own.http().put("/plugins/test/resting", json={"enabled": False})
    bad = write_plugin(tmp_path / "bad", "resting", version="0.2.0", prelude="raise RuntimeError('no luck today')")

    done = parlour_here("plugin", "install", bad, "--data", own.data)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "it is disabled, and starts when it is enabled")
    enabled = own.http().put("/plugins/test/resting", json={"enabled": True}).json()
    assert (enabled["version"], enabled["status"]) == ("0.1.0", "ready")
    assert "0.2.0 could not be started" in enabled["reason"]
    assert texts(own.ask(agent, "who?")) == ["good"]


@pytest.mark.long
def test_a_first_version_that_does_not_start_is_installed_and_reported_as_failed(own: Host, tmp_path: Path) -> None:
    bad = write_plugin(tmp_path / "bad", "stillborn", prelude="raise RuntimeError('no luck today')")

    done = parlour_here("plugin", "install", bad, "--data", own.data)

    assert done.returncode == 1
    assert done.stdout == ""
    assert "it is installed, and the running Host can't start it" in done.stderr
    eventually(lambda: plugin_response(own, "test/stillborn")["status"] == "failed", "it is given up")
    assert "failed" in listed_line(own.data, "test/stillborn")
    worse = write_plugin(tmp_path / "worse", "stillborn", version="0.1.1", prelude="raise RuntimeError('worse')")
    assert "and 0.1.0 stays, which is failed itself" in refusal("plugin", "install", worse, "--data", own.data)

    own.install(write_plugin(tmp_path / "good", "stillborn", version="0.2.0"))
    assert (plugin_response(own, "test/stillborn")["version"], plugin_response(own, "test/stillborn")["status"]) == (
        "0.2.0",
        "ready",
    )


@pytest.mark.long
def test_an_upgrade_without_a_host_is_activated_when_the_host_has_started_it(
    make_host: MakeHost, tmp_path: Path
) -> None:
    good = write_plugin(tmp_path / "one", "renewed", answer="one")
    (good / "left-over.txt").write_text("old")
    host = make_host(good, write_plugin(tmp_path / "two", "renewed", version="0.2.0", answer="two"))
    assert listed_line(host.data, "test/renewed").startswith("test/renewed 0.2.0  0.1.0 until it has started")

    host.start()

    assert texts(host.ask(host.agent("plugin:test/renewed/default"), "which?")) == ["two"]
    host.restart()
    assert plugin_response(host, "test/renewed")["version"] == "0.2.0"
    assert listed_line(host.data, "test/renewed") == "test/renewed 0.2.0  ready"
    assert len(folders(host.data, "test/renewed")) == 1
    assert not list((host.data / "plugins").rglob("left-over.txt"))


@pytest.mark.long
def test_an_upgrade_without_a_host_that_does_not_start_later_is_rolled_back(
    make_host: MakeHost, tmp_path: Path
) -> None:
    prelude, reason = START_FAILURES["a crash"]
    bad = write_plugin(tmp_path / "two", "renewed", version="0.2.0", prelude=prelude)
    host = make_host(write_plugin(tmp_path / "one", "renewed", answer="one"), bad, **QUICK)

    host.start()

    assert texts(host.ask(host.agent("plugin:test/renewed/default"), "which?")) == ["one"]
    eventually(lambda: reason in (plugin_response(host, "test/renewed")["reason"] or ""), "the reason is shown")
    assert plugin_response(host, "test/renewed")["version"] == "0.1.0"


@pytest.mark.parametrize("delete", [False, True])
def test_agents_of_a_plugin_that_is_removed_from_a_running_host_report_it(
    own: Host, tmp_path: Path, delete: bool
) -> None:
    name = f"removed-{delete}".lower()
    plugin_id = f"test/{name}"
    own.install(write_plugin(tmp_path / "plugin", name))
    agent = own.agent(f"plugin:{plugin_id}/default")
    data_file = own.data / "plugin-data" / plugin_id / "kept.txt"
    data_file.write_text("mine")
    process = own.plugin_process(plugin_id)

    done = parlour_here("plugin", "remove", plugin_id, "--data", own.data, *(["--delete-data"] if delete else []))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"removed {plugin_id}")
    assert data_file.exists() != delete
    eventually(lambda: not process.is_running(), "its process is gone")
    assert own.plugin_status(plugin_id) == ""
    assert plugin_response(own, plugin_id) == {}
    assert listed_line(own.data, plugin_id) == ""
    eventually(lambda: not (own.data / "plugins" / plugin_id).exists(), "its code is gone")
    result = own.ask(agent, "hello")
    assert result["outcome"] == "failed"
    assert plugin_id in result["reason"]
    assert own.transcript(result["conversation_id"])[-1][0] == "notice"


def test_a_plugin_is_removed_without_a_host(tmp_path: Path) -> None:
    data = tmp_path / "data"
    parlour_here("plugin", "install", ECHO_PLUGIN, "--data", data)

    done = parlour_here("plugin", "remove", "parlour/echo-agent", "--data", data)

    assert done.stdout == "removed parlour/echo-agent; its data is kept\n"
    assert parlour_here("plugin", "list", "--data", data).stdout == ""


def test_a_command_reports_that_the_host_ended_while_it_waited(make_host: MakeHost, tmp_path: Path) -> None:
    host = make_host(PUPPET_PLUGIN).start()
    agent = host.agent(PUPPET)
    host.send(agent, f"gate {host.shared_file('gate')}")
    host.active_run(agent)
    slow = write_plugin(tmp_path / "slow", "hanging", prelude=HANGING)

    with ThreadPoolExecutor(2) as elsewhere:
        installing = elsewhere.submit(parlour, "plugin", "install", slow, "--data", host.data)
        removing = elsewhere.submit(parlour, "plugin", "remove", "test/puppet-agent", "--data", host.data)
        eventually(lambda: plugin_response(host, "test/hanging").get("status") == "starting", "one starts")
        eventually(lambda: plugin_response(host, "test/puppet-agent").get("status") == "stopped", "the other is to go")
        host.kill()

        assert "the Host ended before it had started it; it does so when it is started" in installing.result().stderr
        assert removing.result().stdout == "removed test/puppet-agent; its data is kept\n"
    assert [each.split()[0] for each in parlour_here("plugin", "list", "--data", host.data).stdout.splitlines()] == [
        "test/hanging"
    ]


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.long
def test_stored_values_of_a_removed_plugin_are_deleted_with_its_data(
    make_host: MakeHost, tmp_path: Path, running: bool
) -> None:
    folder = write_remembering_plugin(tmp_path / "plugin", "remembering")
    host = make_host(folder).start()
    agent = host.agent("plugin:test/remembering/default")
    assert texts(host.ask(agent, "secret")) == ["nothing"]
    if not running:
        host.stop()

    done = parlour_here("plugin", "remove", "test/remembering", "--delete-data", "--data", host.data)

    assert (done.returncode, done.stdout) == (0, "removed test/remembering and its data\n")
    host.install(folder)
    if not running:
        host.start()
    assert texts(host.ask(agent, "again")) == ["nothing"]


@pytest.mark.parametrize("plugin_id", ["test/absent", "nonsense", "../..", "a/b/c"])
def test_a_plugin_that_is_not_installed_can_not_be_removed(tmp_path: Path, plugin_id: str) -> None:
    said = refusal("plugin", "remove", plugin_id, "--data", tmp_path / "data")

    assert f"no plugin '{plugin_id}' is installed" in said


def test_an_upgrade_of_a_named_plugin_refuses_another_plugin(tmp_path: Path) -> None:
    data = tmp_path / "data"
    parlour_here("plugin", "install", ECHO_PLUGIN, "--data", data)
    other = write_plugin(tmp_path / "other", "other")

    said = refusal("plugin", "install", other, "--upgrade", "parlour/echo-agent", "--data", data)

    assert "this is test/other and can't replace parlour/echo-agent; nothing was changed" in said
    assert listed_line(data, "test/other") == ""


PERMISSIONS = "{network: [api.example.org], storage: [plugin], models: [invoke]}"


def test_permissions_are_printed_and_all_are_granted_by_default(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = write_plugin(tmp_path / "plugin", "asking", permissions=PERMISSIONS)

    done = parlour_here("plugin", "install", folder, "--data", data)

    assert "it may reach api.example.org over the network" in done.stdout
    assert "it may keep data of its own in Parlour" in done.stdout
    assert "not granted" not in done.stdout
    assert "granted models:invoke, storage:plugin, network:api.example.org" in listed_line(data, "test/asking")


@pytest.mark.parametrize(
    ("grant", "granted", "missing"),
    [
        ("none", "", "models:invoke, storage:plugin, network:api.example.org"),
        ("storage,models:invoke", "models:invoke, storage:plugin", "network:api.example.org"),
    ],
)
def test_some_permissions_can_be_withheld(tmp_path: Path, grant: str, granted: str, missing: str) -> None:
    data = tmp_path / "data"
    folder = write_plugin(tmp_path / "plugin", "asking", permissions=PERMISSIONS)

    done = parlour_here("plugin", "install", folder, "--grant", grant, "--data", data)

    assert "it asks to reach api.example.org over the network" in done.stdout
    assert f"not granted {missing}" in listed_line(data, "test/asking")
    assert (f"granted {granted};" in listed_line(data, "test/asking")) == bool(granted)


def test_a_permission_that_a_plugin_does_not_request_can_not_be_granted(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugin", "asking", permissions=PERMISSIONS)

    said = refusal("plugin", "install", folder, "--grant", "tools", "--data", tmp_path / "data")

    assert "'tools' can't be granted" in said
    assert listed_line(tmp_path / "data", "test/asking") == ""


def test_new_permissions_of_an_upgrade_are_not_granted_without_an_explicit_option(tmp_path: Path) -> None:
    data = tmp_path / "data"
    parlour_here("plugin", "install", write_plugin(tmp_path / "1", "asking", permissions=PERMISSIONS), "--data", data)
    wants = "{network: [api.example.org, evil.example], storage: [plugin]}"
    newer = write_plugin(tmp_path / "2", "asking", version="0.2.0", permissions=wants)

    done = parlour_here("plugin", "install", newer, "--data", data)

    assert "it asks to reach evil.example over the network" in done.stdout
    assert "--grant all" in done.stdout
    assert "not granted network:evil.example" in listed_line(data, "test/asking")

    parlour_here("plugin", "install", newer, "--grant", "all", "--data", data)
    assert "not granted" not in listed_line(data, "test/asking")


def test_another_plugin_of_the_same_name_and_version_is_refused(own: Host, tmp_path: Path) -> None:
    mine = write_plugin(tmp_path / "mine", "contested", answer="mine")
    theirs = write_plugin(tmp_path / "theirs", "contested", answer="theirs")
    own.install(mine)
    agent = own.agent("plugin:test/contested/default")

    sentence = refusal("plugin", "install", theirs, "--data", own.data)

    assert f"test/contested 0.1.0 is installed already, from {mine}, with other content" in sentence
    assert "raise this one's version, or name the upgrade of test/contested to replace it" in sentence
    assert texts(own.ask(agent, "who?")) == ["mine"]
    own.install(theirs, "--upgrade", "test/contested")
    assert texts(own.ask(agent, "who?")) == ["theirs"]
