"""Kills a Host, its Box or a sandbox while a sandbox starts, while a command runs, and while nothing happens.

Nothing is left of them: no process, no mount, no loop device and no control group. Files stay, and the chat goes on.
"""

import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from parlour.isolation import resource_group
from parlour.isolation.availability import find_bubblewrap
from tests.support.harness import Host, Json, eventually, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

SLOW_START = """#!/bin/sh
case "$*" in */run/parlour-agent*)
    if test -e {hold}; then touch {held}; while test -e {hold}; do sleep 0.05; done; fi;;
esac
exec "{program}" "$@"
"""


class Stage:
    """A Host with a Box whose sandboxes start as slowly as the test wants."""

    def __init__(self, folder: Path) -> None:
        self.hold, self.held = folder / "hold", folder / "held"
        program = folder / "bwrap"
        found = find_bubblewrap() or Path(shutil.which("bwrap") or "")
        program.write_text(SLOW_START.format(hold=self.hold, held=self.held, program=found))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.host = Host(folder, PARLOUR__PLUGINS__BUBBLEWRAP=program)
        self.host.install(CALLING_PLUGIN)
        self.host.start()
        self.agent = self.host.agent(CALLER, box_policy={"tools": ["exec"]})
        self.boxes: set[int] = set()

    def until_ready(self) -> None:
        eventually(lambda: self.host.http().get("/box/status").json()["status"] == "ready", "the Box is there", 60)

    def run(self, command: str) -> Json:
        request = [["call_tool", {"tool_name": "box.exec", "parameters": {"command": command}}]]
        [outcome] = json.loads(texts(self.host.ask(self.agent, json.dumps(request), conversation_id="chat"))[0])
        found: Json = outcome
        return found

    def begin(self, command: str) -> threading.Thread:
        """Runs a command whose end is of no interest: the Host that was asked may be killed."""

        def ask() -> None:
            with suppress(httpx.HTTPError, AssertionError, KeyError, IndexError):
                self.run(command)

        thread = threading.Thread(target=ask)
        thread.start()
        return thread

    def box(self) -> psutil.Process:
        [found] = [each for each in self.host.process.children() if "parlour.box" in each.cmdline()]
        self.boxes.add(found.pid)
        return found

    def sandboxes(self) -> list[psutil.Process]:
        return self.box().children(recursive=True)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.hold.unlink(missing_ok=True)
    stage.host.close()


def left_mounts(data: Path) -> list[str]:
    """Returns what is mounted below a folder, and the devices that show a file below it."""
    found = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            found.append(backing.read_text())
    return [path for path in found if path.startswith(f"{data}/")]


def left_groups(boxes: set[int]) -> list[Path]:
    home = resource_group.find_home()
    folders = home.folders if home is not None else ()
    prefixes = [f"{resource_group.PREFIX}{pid}-*" for pid in boxes]
    return [found for folder in folders for prefix in prefixes for found in folder.glob(prefix)]


def kill_host(stage: Stage) -> None:
    stage.host.kill()


def kill_box(stage: Stage) -> None:
    stage.box().kill()


def kill_sandbox(stage: Stage) -> None:
    for process in stage.sandboxes():
        with suppress(psutil.NoSuchProcess):
            process.kill()


def while_it_starts(stage: Stage) -> threading.Thread:
    [session] = stage.host.items("/box/sessions")
    assert stage.host.http().delete(f"/box/sessions/{session['session_id']}").status_code == 204
    stage.hold.touch()
    asked = stage.begin("echo late >> state")
    eventually(stage.held.exists, "the sandbox is starting")
    return asked


def while_a_command_runs(stage: Stage) -> threading.Thread:
    number = str(100_000 + os.getpid())
    asked = stage.begin(f"setsid sleep {number} & sleep {number}")

    def running() -> bool:
        return sum(each.info["cmdline"] == ["sleep", number] for each in psutil.process_iter(["cmdline"])) == 2

    eventually(running, "the command runs")
    return asked


def while_nothing_happens(stage: Stage) -> threading.Thread:
    return stage.begin("true")


CASES = [
    pytest.param(kill, moment, id=f"{kill.__name__} {moment.__name__}", marks=() if is_short else pytest.mark.long)
    for kill in (kill_host, kill_box, kill_sandbox)
    for moment in (while_it_starts, while_a_command_runs, while_nothing_happens)
    for is_short in (kill is kill_box and moment is while_a_command_runs,)
]


@pytest.mark.parametrize(("kill", "moment"), CASES)
def test_nothing_is_left_and_the_chat_goes_on(
    stage: Stage, kill: Callable[[Stage], None], moment: Callable[[Stage], threading.Thread]
) -> None:
    stage.until_ready()
    assert not stage.run("echo before > state")["is_error"]
    processes = [*stage.sandboxes(), stage.box()]
    asked = moment(stage)
    if moment is while_nothing_happens:
        asked.join()
    processes += stage.sandboxes()
    kill(stage)
    stage.hold.unlink(missing_ok=True)
    if kill is not kill_sandbox:
        _, alive = psutil.wait_procs(processes, timeout=30)
        assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []
    if kill is kill_host:
        eventually(lambda: not left_mounts(stage.host.data), "the kernel has unmounted all workspaces")
        stage.host.start()
    asked.join()
    stage.until_ready()
    outcome = stage.run("cat state")
    assert outcome["content"][0]["text"].splitlines()[0] == "before", outcome
    stage.box()
    stage.host.stop()
    eventually(lambda: not left_mounts(stage.host.data), "no device is left")
    assert left_groups(stage.boxes) == []
    assert [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
