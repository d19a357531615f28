"""Tests that each fault of a plugin gets the same message from `validate`, `test`, `build`, `run` and the Host."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.commands import PARLOUR, clean_environment, parlour_here, refusal
from tests.support.harness import Host, eventually
from tests.support.plugins import write_plugin
from tests.support.starting import start

SECONDS = 30.0
LISTENER = """\
apiVersion: parlour/v1
kind: EventListener
metadata: {name: door}
execution: {python: {path: listener.py, attr: Door}}
"""
LISTENS_TO_UNKNOWN_EVENT = """\
from parlour_sdk import EventListener, on


class Door(EventListener):
    @on("message.recieved")
    async def hear(self, event, ctx):
        pass
"""


@dataclass(frozen=True)
class Fault:
    spoil: Callable[[Path], object]
    sentence: str
    """The message; FOLDER stands for the plugin's folder."""
    imported: bool = False
    """True if the fault shows only when the plugin's code is imported."""

    def message_for(self, folder: Path) -> str:
        return self.sentence.replace("FOLDER", str(folder))

    def is_in(self, text: str) -> bool:
        """Checks a text of a Host, which names its copy of the folder."""
        return re.search(re.escape(self.sentence).replace("FOLDER", r"\S.*?"), text) is not None


def edit(file: str, old: str, new: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return change


def add_second(folder: Path) -> None:
    shutil.copy(folder / "default.yaml", folder / "second.yaml")
    edit("manifest.yaml", "[default.yaml]", "[default.yaml, second.yaml]")(folder)


def add_listener(folder: Path) -> None:
    (folder / "listener.yaml").write_text(LISTENER)
    (folder / "listener.py").write_text(LISTENS_TO_UNKNOWN_EVENT)
    edit("manifest.yaml", "[default.yaml]", "[default.yaml, listener.yaml]")(folder)


FAULTS = {
    "no manifest": Fault(
        lambda folder: (folder / "manifest.yaml").unlink(),
        "FOLDER/manifest.yaml can't be read: No such file or directory; a plugin's folder needs one, "
        "and the path must lead to it",
    ),
    "not YAML": Fault(
        lambda folder: (folder / "manifest.yaml").write_text("kind: [Plugin\nmetadata: }\n"),
        "FOLDER/manifest.yaml is not YAML: while parsing a flow sequence",
    ),
    "a wrong type": Fault(
        edit("manifest.yaml", "version: 0.1.0", "version: [0, 1]"),
        "FOLDER/manifest.yaml:3: metadata.version: Input should be a valid string",
    ),
    "a number for a text": Fault(
        edit("manifest.yaml", "version: 0.1.0", "version: 0.1"),
        "FOLDER/manifest.yaml:3: metadata.version: Input should be a valid string; put it in quotes: '0.1'",
    ),
    "something missing": Fault(
        edit("manifest.yaml", ", version: 0.1.0", ""),
        "FOLDER/manifest.yaml:3: metadata.version: Field required; add `version: 0.1.0`",
    ),
    "an unknown permission": Fault(
        edit("manifest.yaml", "permissions: {}", "permissions: {storeage: [plugin]}"),
        "FOLDER/manifest.yaml:6: spec.permissions.storeage: there is none of this name; known are agent_runs, events, "
        "knowledge_bases, models, network, platform_api, processes, runtimes, storage, tools; did you mean storage?",
    ),
    "two components of one name": Fault(
        add_second,
        "FOLDER/second.yaml: a second AgentRunner named 'default'; give each its own metadata.name "
        "(the first is at FOLDER/default.yaml)",
    ),
    "an import that fails": Fault(
        edit("runner.py", "\n\nclass", "\n1 / 0\n\nclass"),
        "FOLDER/runner.py:5: importing the plugin's code failed here with ZeroDivisionError: division by zero",
        imported=True,
    ),
    "a module that is not there": Fault(
        edit("runner.py", "\n\nclass", "\nimport httpxx\n\nclass"),
        "FOLDER/runner.py:5: there is no module 'httpxx'; add it to requirements.txt or, if it is your own, "
        "to the folder",
        imported=True,
    ),
    "a runner that is no async generator": Fault(
        edit("runner.py", "yield results", "return results"),
        "FOLDER/runner.py:7: Runner.run must be an async generator: `async def` with `yield`",
        imported=True,
    ),
    "an unknown event": Fault(
        add_listener,
        "FOLDER/listener.py:6: Door.hear waits for 'message.recieved', and there is no such event; "
        "did you mean message.received",
        imported=True,
    ),
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host with one plugin per fault, installed without the fault and spoiled afterwards."""
    folder = tmp_path_factory.mktemp("spoiled")
    host = Host(folder, PARLOUR__PLUGINS__GIVE_UP_AFTER=1)
    for number, fault in enumerate(FAULTS.values()):
        host.install(write_plugin(folder / f"{number}", f"spoiled{number}"))
        [code] = [each for each in (host.data / f"plugins/test/spoiled{number}").iterdir() if each.is_dir()]
        fault.spoil(code)
    host.start()
    yield host
    host.close()


class Author:
    """Keeps `parlour plugin run` running in a folder."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.plugin = write_plugin(folder / "plugin", "watched")
        self._printed = folder / "printed.txt"
        command = [str(PARLOUR), "plugin", "run", str(self.plugin), "--data", str(data)]
        with self._printed.open("wb") as file:
            self.process = start(command, clean_environment(None), file, file)
        self._until("test/watched 0.1.0 is taken")

    def spoil(self, fault: Fault) -> None:
        """Replaces the folder's content by a valid plugin that is spoiled before the watcher sees it."""
        shutil.rmtree(self.plugin)
        fault.spoil(write_plugin(self.plugin, "watched"))
        self._until(f"not taken: {fault.message_for(self.plugin)}")

    def _until(self, text: str) -> None:
        eventually(lambda: text in self._printed.read_text(), f"'{text}' is in {self._printed}", SECONDS)


@pytest.fixture(scope="module")
def author(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    author = Author(tmp_path_factory.mktemp("author"), host.data)
    yield author
    author.process.terminate()
    assert author.process.wait(60) == 0


COMMANDS = [
    pytest.param(command, name, marks=[pytest.mark.long] if fault.imported and command != "validate" else [])
    for command in ("validate", "test", "build")
    for name, fault in FAULTS.items()
]
"""All commands share one check. Importing a plugin's code takes a process, so only one command does
it outside long runs.
"""


@pytest.mark.parametrize(("command", "name"), COMMANDS)
def test_the_author_commands_report_the_fault(tmp_path: Path, command: str, name: str) -> None:
    folder = write_plugin(tmp_path / "a plugin", "spoiled")
    FAULTS[name].spoil(folder)

    said = refusal("plugin", command, folder)

    assert said.startswith(f"parlour: {FAULTS[name].message_for(folder)}")


@pytest.mark.parametrize("name", FAULTS)
def test_hot_reload_reports_the_fault_and_keeps_the_good_version(host: Host, author: Author, name: str) -> None:
    author.spoil(FAULTS[name])

    assert host.http().get("/plugins/test/watched").json()["status"] == "ready"


@pytest.mark.parametrize("name", FAULTS)
def test_installing_into_a_running_host_reports_the_fault(host: Host, tmp_path: Path, name: str) -> None:
    folder = write_plugin(tmp_path / "plugin", f"new{list(FAULTS).index(name)}")
    FAULTS[name].spoil(folder)

    done = parlour_here("plugin", "install", folder, "--data", host.data)

    assert done.returncode == 1
    said = FAULTS[name].is_in(done.stderr) if FAULTS[name].imported else FAULTS[name].message_for(folder) in done.stderr
    assert said, done.stderr


@pytest.mark.parametrize("name", FAULTS)
def test_the_host_reports_the_fault_of_an_installed_plugin(host: Host, name: str) -> None:
    path = f"/plugins/test/spoiled{list(FAULTS).index(name)}"
    eventually(lambda: host.http().get(path).json()["status"] == "failed", "it is given up", SECONDS)

    assert FAULTS[name].is_in(reason := host.http().get(path).json()["reason"]), reason


def test_an_unknown_key_is_noted_everywhere_and_prevents_nothing(host: Host, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugin", "colourful")
    edit("manifest.yaml", "spec:\n", "spec:\n  limit: {memory_mb: 64}\n")(folder)
    note = "manifest.yaml:5: spec.limit: an unknown key, passed over; did you mean limits?"

    outputs = {
        "validate": parlour_here("plugin", "validate", folder),
        "build": parlour_here("plugin", "build", folder),
        "install": parlour_here("plugin", "install", folder, "--data", host.data),
    }

    assert {door: done.returncode for door, done in outputs.items()} == dict.fromkeys(outputs, 0)
    assert {door: f"{note}\n" in done.stdout for door, done in outputs.items()} == dict.fromkeys(outputs, True)
    log = host.http().get("/plugins/test/colourful/logs").json()["items"]
    assert any(note in str(line) for line in log)
