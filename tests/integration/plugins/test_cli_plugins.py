"""Tests `parlour plugin`: installation, also into a running Host, and refusals."""

import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parlour.app.data_directory import DataDirectory
from tests.integration.conftest import MakeHost
from tests.support.commands import parlour_here, refusal
from tests.support.harness import ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN, Host, eventually, texts
from tests.support.plugins import write_plugin

Spoil = Callable[[Path], object]


def installed(data: Path) -> list[str]:
    """Returns id and version of each listed plugin."""
    lines = parlour_here("plugin", "list", "--data", data).stdout.splitlines()
    return [" ".join(line.split()[:2]) for line in lines]


def everything_below(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def runner_version(host: Host, runner_id: str) -> str:
    runners = host.http().get("/runners").json()["items"]
    return next((each["plugin"]["version"] for each in runners if each["id"] == runner_id), "")


def test_a_plugin_is_installed_and_listed_without_a_host(tmp_path: Path) -> None:
    done = parlour_here("plugin", "install", ECHO_PLUGIN, "--data", tmp_path)

    assert (done.returncode, done.stdout) == (0, "installed parlour/echo-agent 0.1.0\n")
    assert installed(tmp_path) == ["parlour/echo-agent 0.1.0"]


def test_a_plugin_installed_while_the_host_runs_is_picked_up_and_upgraded(host: Host, tmp_path: Path) -> None:
    runner = "plugin:test/fresh/default"
    host.install(write_plugin(tmp_path / "one", "fresh", answer="one"))
    eventually(lambda: runner_version(host, runner) == "0.1.0", "the Host shows the new runner")
    agent = host.agent(runner)
    assert texts(host.ask(agent, "which?")) == ["one"]

    host.install(write_plugin(tmp_path / "two", "fresh", version="0.2.0", answer="two"))

    eventually(lambda: runner_version(host, runner) == "0.2.0", "the Host shows the upgrade")
    assert texts(host.ask(agent, "which?")) == ["two"]
    assert "test/fresh 0.2.0" in installed(host.data)


SPOILED: dict[str, tuple[Spoil, str]] = {
    "no manifest": (lambda folder: (folder / "manifest.yaml").unlink(), "manifest.yaml"),
    "not YAML": (lambda folder: (folder / "manifest.yaml").write_text("a: [1,\n  b: }\n"), "not YAML"),
    "not text": (lambda folder: (folder / "manifest.yaml").write_bytes(b"\xff\xfe\x00"), "not YAML"),
    "empty": (lambda folder: (folder / "manifest.yaml").write_text(""), "manifest.yaml"),
    "a list": (lambda folder: (folder / "manifest.yaml").write_text("[1, 2]"), "manifest.yaml"),
    "another kind": (lambda folder: _edit(folder, "kind: Plugin", "kind: Toaster"), "kind"),
    "a version that is a list": (lambda folder: _edit(folder, "version: 0.1.0", "version: [0]"), "metadata.version"),
    "an author that is a path": (lambda folder: _edit(folder, "author: test", "author: ../test"), "../test"),
    "a component outside": (lambda folder: _edit(folder, "default.yaml]", "../../elsewhere.yaml]"), "elsewhere.yaml"),
    "an absolute component": (lambda folder: _edit(folder, "[default.yaml]", "[/etc/passwd]"), "/etc/passwd"),
    "a component that is absent": (lambda folder: (folder / "default.yaml").unlink(), "default.yaml"),
    "an unknown capability": (lambda folder: _edit_component(folder, "streaming", "flying"), "flying"),
    "code outside": (lambda folder: _edit_component(folder, "runner.py", "../../outside.py"), "outside.py"),
    "code that is absent": (lambda folder: (folder / "runner.py").unlink(), "runner.py"),
}


def _edit(folder: Path, old: str, new: str, file: str = "manifest.yaml") -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


def _edit_component(folder: Path, old: str, new: str) -> None:
    _edit(folder, old, new, "default.yaml")


@pytest.mark.parametrize("fault", SPOILED)
def test_an_invalid_plugin_is_refused_in_one_sentence_and_changes_nothing(tmp_path: Path, fault: str) -> None:
    spoil, named = SPOILED[fault]
    data = tmp_path / "data"
    folder = write_plugin(tmp_path / "plugin", "spoiled")
    assert parlour_here("plugin", "install", folder, "--data", data).returncode == 0
    before = everything_below(data)
    spoil(folder)

    assert named in refusal("plugin", "install", folder, "--data", data)

    assert everything_below(data) == before


@pytest.mark.parametrize("remedy", ["install", "remove"])
def test_a_damaged_record_is_listed_and_repaired_or_removed(tmp_path: Path, remedy: str) -> None:
    data, folder = tmp_path / "data", write_plugin(tmp_path / "plugin", "damaged")
    parlour_here("plugin", "install", folder, "--data", data)
    (data / "plugins" / "test" / "damaged" / "record.json").write_text("}")
    words = "test/damaged  failed: its record (record.json) is damaged; install the plugin again, or remove it\n"
    assert parlour_here("plugin", "list", "--data", data).stdout == words

    done = parlour_here("plugin", remedy, folder if remedy == "install" else "test/damaged", "--data", data)

    assert (done.returncode, done.stderr) == (0, "")
    assert installed(data) == (["test/damaged 0.1.0"] if remedy == "install" else [])


def test_a_plugin_that_does_not_run_is_listed_with_the_reason_and_the_doctor_says_where_to_look(
    host: Host, tmp_path: Path
) -> None:
    folder = write_plugin(tmp_path / "plugin", "gloomy", prelude="raise OSError('there is no light')")
    assert "there is no light" in refusal("plugin", "install", folder, "--data", host.data)

    listed = parlour_here("plugin", "list", "--data", host.data).stdout
    output = parlour_here("doctor", "--data", host.data).stdout

    assert re.search(r"^test/gloomy 0\.1\.0  (waiting|failed): .*there is no light", listed, re.MULTILINE)
    assert re.search(r"test/gloomy 0\.1\.0 (is started again in a moment|has failed): .*there is no light", output)
    assert "logs/plugins/test/gloomy.log" in output
    assert (host.data / "logs/plugins/test/gloomy.log").exists()


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert "absent is not there" in refusal("plugin", "install", tmp_path / "absent", "--data", tmp_path / "data")


def test_a_file_that_can_not_be_copied_is_named_and_changes_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = write_plugin(tmp_path / "plugin", "dangling")
    parlour_here("plugin", "install", folder, "--data", data)
    before = everything_below(data)
    (folder / "broken-link").symlink_to(tmp_path / "nowhere")

    assert "broken-link" in refusal("plugin", "install", folder, "--data", data)

    assert everything_below(data) == before


def test_an_upgrade_fails_neither_new_messages_nor_a_run_without_output(
    host: Host,
) -> None:
    agent = host.agent(PUPPET)
    start_marker = host.shared_file("begun before the upgrade")
    text = f"second-attempt {start_marker}"
    host.send(agent, text, event_id="during the upgrade")
    eventually(start_marker.exists, "a run is active")
    old = host.plugin_process("test/puppet-agent")

    with ThreadPoolExecutor(1) as elsewhere:
        installing = elsewhere.submit(host.install, PUPPET_PLUGIN)
        answers = [texts(host.ask(agent, "say yes"))]
        while not installing.done():
            answers.append(texts(host.ask(agent, "say yes")))
        installing.result()

    assert answers == [["yes"]] * len(answers)
    assert texts(host.ask(agent, text, event_id="during the upgrade")) == ["answered on attempt 2"]
    eventually(lambda: not old.is_running(), "the old process is gone")


def test_commands_work_when_the_host_ends_just_before_it_is_notified(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(30)
    directory = DataDirectory(tmp_path)

    with directory.lock():
        directory.lock_file.write_text(str(ended.pid))
        done = parlour_here("plugin", "install", ECHO_PLUGIN, "--data", tmp_path)
        removed = parlour_here("plugin", "remove", "parlour/echo-agent", "--data", tmp_path)

    assert (done.returncode, done.stdout) == (0, "installed parlour/echo-agent 0.1.0\n")
    assert (removed.returncode, removed.stdout) == (0, "removed parlour/echo-agent; its data is kept\n")
    assert installed(tmp_path) == []


def test_a_plugin_installed_while_the_host_is_starting_is_picked_up_and_harms_nothing(
    make_host: MakeHost,
) -> None:
    host = make_host()
    host.begin()
    eventually(lambda: DataDirectory(host.data).serving_pid(), "the Host has its data directory")

    host.install(PUPPET_PLUGIN)

    host.wait_until_ready()
    eventually(lambda: host.plugin_status("test/puppet-agent") == "ready", "the plugin is ready")
    assert texts(host.ask(host.agent(PUPPET), "say hello")) == ["hello"]
