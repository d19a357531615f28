"""Tests that new runs go to a new process while the old process finishes its runs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.integration.conftest import HostType
from tests.support.commands import parlour
from tests.support.harness import Host, bearer, eventually, texts
from tests.support.rogue import ROGUE, ROGUE_ID, ROGUE_PLUGIN, pids, plugin

pytestmark = pytest.mark.both_runtimes
SETTINGS = {"PARLOUR__PLUGINS__IGNORED_CANCEL_SECONDS": "1", "PARLOUR__PLUGINS__DRAIN_SECONDS": "60"}


@pytest.fixture(scope="module")
def drained(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    host = host_type(tmp_path_factory.mktemp("drained"), **SETTINGS)
    host.start()
    yield host
    host.close()


@pytest.fixture
def rogue(drained: Host) -> Host:
    """Installs the rogue plugin again, with one process."""
    drained.install(ROGUE_PLUGIN)
    eventually(lambda: len(pids(drained)) == 1 and plugin(drained)["status"] == "ready", "it runs alone", 30)
    return drained


def gated(host: Host, agent: str, name: str) -> Path:
    """Starts a run that ends when the file is created."""
    gate = host.shared_file(name, ROGUE_ID)
    host.send(agent, f"gate {gate}", event_id=name)
    eventually(Path(f"{gate}.begun").exists, "the run has begun")
    return gate


def answer(host: Host, agent: str, gate: Path) -> list[str]:
    return texts(host.ask(agent, f"gate {gate}", event_id=gate.name))


def test_a_run_survives_an_upgrade_and_new_runs_go_to_the_new_version(rogue: Host, tmp_path: Path) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    gate = gated(rogue, agent, "old")
    [old] = pids(rogue)

    rogue.install(_version_two(tmp_path))

    eventually(lambda: plugin(rogue)["version"] == "0.2.0", "the Host knows of it")
    assert texts(rogue.ask(agent, "say hello")) == ["hello from 0.2.0"]
    assert old in pids(rogue)
    gate.touch()
    assert answer(rogue, agent, gate) == ["the gate is open"]
    eventually(lambda: old not in pids(rogue), "the old version has ended")
    assert len(pids(rogue)) == 1


def test_runs_that_ignore_their_cancellation_cost_their_process_and_no_other_run(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    gate = gated(rogue, agent, "healthy")
    [old] = pids(rogue)
    stubborn = rogue.agent(ROGUE, restart_policy="never")
    rogue.send(stubborn, "stubborn")
    run_id = rogue.active_run(stubborn)
    eventually(lambda: rogue.items(f"/runs/{run_id}/events"), "it began to speak")
    cancelled = rogue.http().post(f"/runs/{run_id}/cancel")
    assert cancelled.status_code == 200, cancelled.text

    eventually(lambda: pids(rogue) - {old}, "a fresh process is there")

    eventually(lambda: "after their cancellation" in (plugin(rogue)["reason"] or ""), "the Host says why")
    assert plugin(rogue)["status"] == "ready"
    assert texts(rogue.ask(agent, "say hello")) == ["hello"]
    assert old in pids(rogue)
    gate.touch()
    assert answer(rogue, agent, gate) == ["the gate is open"]
    eventually(lambda: old not in pids(rogue), "the old process is gone")


def test_a_restart_on_request_lets_runs_finish(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    gate = gated(rogue, agent, "restarted")
    [old] = pids(rogue)

    assert rogue.http().post(f"/plugins/{ROGUE_ID}/restart").status_code == 200

    assert pids(rogue) - {old}
    gate.touch()
    assert answer(rogue, agent, gate) == ["the gate is open"]
    eventually(lambda: old not in pids(rogue), "the old process is gone")


def test_a_disabled_plugin_accepts_no_new_runs_and_finishes_its_active_ones(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    gate = gated(rogue, agent, "disabled")
    path = f"/plugins/{ROGUE_ID}"

    with ThreadPoolExecutor(1) as elsewhere:
        disabling = elsewhere.submit(_disable, rogue)
        eventually(lambda: "finishes its runs" in (plugin(rogue)["reason"] or ""), "it takes no more runs", 30)
        refused = rogue.ask(agent, "say hello", conversation_id="another")
        assert refused["outcome"] == "failed"
        gate.touch()
        assert answer(rogue, agent, gate) == ["the gate is open"]
        assert disabling.result(60).status_code == 200

    eventually(lambda: not pids(rogue), "its process is gone", 30)
    assert rogue.http().put(path, json={"enabled": True}).status_code == 200


def _disable(host: Host) -> httpx.Response:
    """Disables the plugin with a client of its own, because the test uses the shared one at the same time."""
    address = f"{host.address}/api/v1/plugins/{ROGUE_ID}"
    return httpx.put(address, json={"enabled": False}, headers=bearer(host.key()), timeout=60)


def test_a_removed_plugin_finishes_its_runs_before_its_data_is_deleted(rogue: Host) -> None:
    agent = rogue.agent(ROGUE, restart_policy="never")
    gate = gated(rogue, agent, "removed")

    with ThreadPoolExecutor(1) as elsewhere:
        words = ("plugin", "remove", ROGUE_ID, "--delete-data", "--data", rogue.home)
        removing = elsewhere.submit(parlour, *words)
        eventually(lambda: "finishes its runs" in (plugin(rogue)["reason"] or ""), "it takes no more runs", 30)
        gate.touch()
        assert answer(rogue, agent, gate) == ["the gate is open"]
        assert removing.result(60).returncode == 0

    assert not gate.parent.exists()
    assert pids(rogue) == set()


def _version_two(tmp_path: Path) -> Path:
    """Writes the plugin's version 0.2.0, whose answers name their version."""
    folder = tmp_path / "two"
    folder.mkdir()
    for file in ROGUE_PLUGIN.iterdir():
        if file.is_file():
            text = file.read_text().replace("version: 0.1.0", "version: 0.2.0")
            (folder / file.name).write_text(
                text.replace("results.completed(argument)", "results.completed(f'{argument} from 0.2.0')")
            )
    return folder
