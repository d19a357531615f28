"""Tests the limits of a plugin: memory, processes, disk, run slots, open files, and no access to
the Host's environment.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import HostType
from tests.support.harness import Host, eventually, texts
from tests.support.rogue import QUICK, ROGUE, ROGUE_ID, ROGUE_PLUGIN, plugin, sleepers

pytestmark = pytest.mark.both_runtimes

SETTINGS = {
    **QUICK,
    "PARLOUR__PLUGINS__MEMORY_LOOK_SECONDS": "0.2",
    "PARLOUR__PLUGINS__DATA_LOOK_SECONDS": "0.2",
    "PARLOUR__PLUGINS__DATA_MB": "20",
    "PARLOUR__PLUGINS__DATA_FILES": "100",
    "PARLOUR__PLUGINS__OPEN_FILES": "300",
    "PARLOUR__PLUGINS__PROCESSES": "12",
    "PARLOUR__PLUGINS__NICENESS": "3",
    "SECRET_OF_THE_HOST": "never to be seen",
}


@pytest.fixture(scope="module")
def rogue(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    host = host_type(tmp_path_factory.mktemp("limited"), **SETTINGS)
    host.install(ROGUE_PLUGIN)
    host.start()
    yield host
    host.close()


def test_a_plugin_that_uses_too_much_memory_is_ended_with_a_reason_and_restarted(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")

    result = rogue.ask(agent, "leak 200")

    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    eventually(lambda: "it used more than 150 MB of memory" in rogue.log(), "the Host says why")
    assert texts(rogue.ask(agent, "say slim again")) == ["slim again"]


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("leak_file 200", "it used more than 150 MB of memory"),
        ("fill_unseen 30", "its data folder holds more than 20 MB"),
    ],
)
def test_unlinked_files_of_a_plugin_count_against_its_limits(rogue: Host, deed: str, reason: str) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")

    result = rogue.ask(agent, deed)

    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    assert texts(rogue.ask(agent, "say slim again")) == ["slim again"]
    assert reason in str(plugin(rogue)["reason"])


def test_a_plugin_whose_data_folder_can_not_be_measured_is_ended_with_a_reason(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    name = "deep" * 50

    result = rogue.ask(agent, f"bury {name}")

    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    eventually(lambda: plugin(rogue)["status"] == "failed", "it is given up, because the folder stays full")
    assert str(plugin(rogue)["reason"]).startswith("its data folder can't be looked through (File name too long)")
    subprocess.run(["rm", "-r", rogue.shared_file(name, ROGUE_ID)], check=True)
    assert rogue.http().post(f"/plugins/{ROGUE_ID}/restart").status_code == 200
    assert texts(rogue.ask(agent, "say tidy again")) == ["tidy again"]


def test_a_plugin_with_too_many_processes_is_ended_with_a_reason_and_all_processes(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    unique = f"86400.{time.time_ns()}{os.getpid()}"

    for _ in range(8):  # the sandbox has two processes, and the plugin is one or, while it starts a daemon, two
        assert texts(rogue.ask(agent, f"daemon {unique}")) == ["it is on its own"]
    for _ in range(2):
        rogue.ask(agent, "daemon 86400")

    eventually(lambda: "it had more than 12 processes" in rogue.log(), "the Host says why")
    eventually(lambda: not sleepers(unique), "they are gone", 30)
    assert texts(rogue.ask(agent, "say alone again")) == ["alone again"]


def test_a_plugin_that_fills_its_data_folder_is_ended_with_a_reason(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")

    result = rogue.ask(agent, f"fill 30 {rogue.shared_file('heap', ROGUE_ID)}")

    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    eventually(lambda: plugin(rogue)["status"] == "failed", "it is given up, because the folder stays full")
    assert str(plugin(rogue)["reason"]).startswith("its data folder holds more than 20 MB")
    rogue.shared_file("heap", ROGUE_ID).unlink()
    assert rogue.http().post(f"/plugins/{ROGUE_ID}/restart").status_code == 200
    assert texts(rogue.ask(agent, "say tidy again")) == ["tidy again"]


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("stretch 30 {}", "its data folder holds more than 20 MB"),
        ("litter 150 {}", "its data folder holds more than 100 files"),
    ],
)
def test_sparse_files_and_many_files_count_against_the_limits(rogue: Host, deed: str, reason: str) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    heap = rogue.shared_file("a heap", ROGUE_ID)

    result = rogue.ask(agent, deed.format(heap))

    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    eventually(lambda: plugin(rogue)["status"] == "failed", "it is given up, because the folder stays full")
    assert str(plugin(rogue)["reason"]).startswith(reason)
    shutil.rmtree(heap)
    assert rogue.http().post(f"/plugins/{ROGUE_ID}/restart").status_code == 200
    assert texts(rogue.ask(agent, "say tidy again")) == ["tidy again"]


def test_a_plugin_sees_no_secret_and_has_the_configured_limits(rogue: Host) -> None:
    agent = rogue.agent(ROGUE)

    def reported() -> dict[str, Any]:
        return dict(json.loads(texts(rogue.ask(agent, "tell"))[0]))

    eventually(lambda: reported()["open_files"] == [300, 300], "it is restrained")
    facts = reported()
    assert "never to be seen" not in json.dumps(facts["environment"])
    assert not [name for name in facts["environment"] if name.startswith("PARLOUR__")]
    assert facts["niceness"] == min(19, rogue.process.nice() + 3)


def test_runs_beyond_the_limit_of_the_manifest_wait_and_are_answered(rogue: Host) -> None:
    agent = rogue.agent(ROGUE)
    gates = [rogue.shared_file(f"gate {number}", ROGUE_ID) for number in range(5)]
    for gate in gates:
        rogue.send(agent, f"gate {gate}", event_id=gate.name, conversation_id=gate.name)

    def begun() -> list[Path]:
        return [gate for gate in gates if Path(f"{gate}.begun").exists()]

    eventually(lambda: len(begun()) == 3, "as many as the manifest allows have begun")
    eventually(lambda: len(rogue.items("/runs", agent_id=agent, status="running")) == 5, "the others wait")
    assert len(begun()) == 3
    for gate in gates:
        gate.touch()
    for gate in gates:
        result = rogue.ask(agent, f"gate {gate}", event_id=gate.name, conversation_id=gate.name)
        assert texts(result) == ["the gate is open"]
