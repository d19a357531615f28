"""Tests `parlour plugin run`: a saved change is in the Host a moment later, unless it is invalid."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import PARLOUR, clean_environment, parlour_here, refusal
from tests.support.harness import Host, eventually, texts
from tests.support.plugins import write_plugin
from tests.support.starting import start


class Running:
    """Runs the command and collects its output."""

    def __init__(self, plugin: Path, data: Path, output: Path, *options: str) -> None:
        self._output = output
        with output.open("wb") as file:
            command = [str(PARLOUR), "plugin", "run", str(plugin), "--data", str(data), *options]
            self.process = start(command, clean_environment(None), file, file)

    @property
    def printed(self) -> str:
        return self._output.read_text()

    def until(self, text: str, times: int = 1) -> None:
        eventually(lambda: self.printed.count(text) >= times, f"{text!r} in {self.printed}", 30)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return write_plugin(tmp_path / "a plugin", f"reloaded-{tmp_path.name}".lower(), answer="one")


@pytest.fixture
def name(plugin: Path, tmp_path: Path) -> str:
    return f"test/reloaded-{tmp_path.name}".lower()


@pytest.fixture
def running(host: Host, plugin: Path, tmp_path: Path) -> Iterator[Running]:
    running = Running(plugin, host.data, tmp_path / "printed.txt")
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.wait(10)


def edit(plugin: Path, old: str, new: str) -> None:
    code = (plugin / "runner.py").read_text()
    assert old in code
    (plugin / "runner.py").write_text(code.replace(old, new))


def installed(host: Host) -> str:
    return parlour_here("plugin", "list", "--data", host.data).stdout


def test_a_saved_change_is_activated_and_an_invalid_one_keeps_the_previous_version(
    host: Host, running: Running, plugin: Path, name: str
) -> None:
    running.until(f"{name} 0.1.0 is taken")
    agent = host.agent(f"plugin:{name}/default")
    assert texts(host.ask(agent, "which?")) == ["one"]

    edit(plugin, "'one'", "'two'")
    running.until("is taken", times=2)
    assert texts(host.ask(agent, "which?")) == ["two"]

    edit(plugin, "yield results.completed('two')", "return")
    running.until("not taken: ")
    assert f"{plugin}/runner.py:7: Runner.run must be an async generator" in running.printed
    assert texts(host.ask(agent, "which?")) == ["two"]

    edit(plugin, "return", "yield results.completed('three')")
    running.until("is taken", times=3)
    assert texts(host.ask(agent, "which?")) == ["three"]
    assert running.printed.count("installed ") == 1, "what it may do is shown once"

    assert running.end() == 0
    assert f"parlour plugin remove {name} --data {host.data}" in running.printed
    assert f"{name} 0.1.0" in installed(host)
    assert texts(host.ask(agent, "which?")) == ["three"]


def test_a_change_that_fails_at_its_start_keeps_the_previous_version(
    host: Host, running: Running, plugin: Path, name: str
) -> None:
    running.until("is taken")

    edit(plugin, "import results", "import results\nimport sys\nassert not sys.argv[0].endswith('worker.py'), 'no'")
    edit(plugin, "'one'", "'two'")
    running.until(f"not taken: {name} 0.1.0 could not be started, and 0.1.0 goes on")

    assert "AssertionError: no" in running.printed
    assert texts(host.ask(host.agent(f"plugin:{name}/default"), "which?")) == ["one"]


@pytest.mark.long
def test_the_log_of_the_plugin_is_shown_live(host: Host, running: Running, plugin: Path, name: str) -> None:
    running.until("is taken")
    edit(plugin, "yield results", "print('heard', ctx.input.text, flush=True)\n        yield results")
    running.until("is taken", times=2)

    host.ask(host.agent(f"plugin:{name}/default"), "a rumour")

    running.until("heard a rumour")
    [line] = [line for line in running.printed.splitlines() if "heard a rumour" in line]
    assert line.startswith("  | ")


@pytest.mark.long
def test_new_and_removed_files_trigger_a_reload_and_caches_do_not(host: Host, running: Running, plugin: Path) -> None:
    running.until("is taken")
    (plugin / "__pycache__").mkdir()
    (plugin / "__pycache__" / "x.pyc").write_text("")
    (plugin / "helper.py").write_text("")
    running.until("is taken", times=2)
    (plugin / "default.yaml").rename(plugin / "elsewhere.yaml")

    running.until(f"not taken: {plugin}/default.yaml can't be read")
    assert running.printed.count("is taken") == 2


def test_a_single_file_plugin_is_watched_and_can_be_removed_at_the_end(host: Host, tmp_path: Path) -> None:
    parlour_here("plugin", "new", "test/single-run", "--one-file", "--into", tmp_path)
    running = Running(tmp_path / "single_run.py", host.data, tmp_path / "printed.txt", "--remove")
    try:
        running.until("test/single-run 0.1.0 is taken")
        assert "test/single-run" in installed(host)
        assert running.end(signal.SIGINT) == 0
    finally:
        running.process.kill()
    assert "removed test/single-run" in running.printed
    assert "test/single-run" not in installed(host)


def test_without_a_host_the_command_says_how_to_start_one_and_creates_nothing(tmp_path: Path, plugin: Path) -> None:
    said = refusal("plugin", "run", plugin, "--data", tmp_path / "no data")

    assert f"start one: parlour serve --data '{tmp_path / 'no data'}'" in said
    assert not (tmp_path / "no data").exists()


@pytest.mark.long
def test_a_restarted_host_has_the_change_that_was_saved_while_it_was_down(
    make_host: MakeHost, plugin: Path, name: str, tmp_path: Path
) -> None:
    host = make_host().start()
    running = Running(plugin, host.data, tmp_path / "printed.txt")
    try:
        running.until("is taken")
        host.kill()
        running.until("the Host has ended")
        edit(plugin, "'one'", "'two'")
        running.until("is taken", times=2)
        host.start()
        running.until("the Host is back")
        assert texts(host.ask(host.agent(f"plugin:{name}/default"), "which?")) == ["two"]
    finally:
        running.process.kill()
        running.process.wait(10)


ASKING = """\
from parlour_sdk import plugin, results, runner

plugin("test/asking", version="1.0", permissions={"network": ["example.org"], "models": ["invoke"]})


@runner
async def asking(ctx, api):
    yield results.completed("hello")
    yield results.finished()
"""


def test_an_author_can_grant_fewer_permissions_than_requested(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "asking.py"
    file.write_text(ASKING)
    running = Running(file, host.data, tmp_path / "printed.txt", "--grant", "models", "--remove")
    try:
        running.until("test/asking 1.0 is taken")
        [line] = [each for each in installed(host).splitlines() if "test/asking" in each]
        assert "granted models" in line
        assert "not granted network" in line
    finally:
        assert running.end() == 0
