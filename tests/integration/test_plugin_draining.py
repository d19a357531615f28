"""A fresh process beside an old one: new runs go to the fresh one, and the old one finishes what it has begun."""

from pathlib import Path

import pytest

from .conftest import MakeHost
from .harness import Host, eventually, texts
from .rogue import ROGUE, ROGUE_ID, ROGUE_PLUGIN, pids, plugin

pytestmark = pytest.mark.both_runtimes


@pytest.fixture
def rogue(make_host: MakeHost) -> Host:
    settings = {"PARLOUR__PLUGINS__IGNORED_CANCEL_SECONDS": "1", "PARLOUR__PLUGINS__DRAIN_SECONDS": "10"}
    return make_host(ROGUE_PLUGIN, **settings).start()


def gated(host: Host, agent: str, name: str) -> Path:
    """A run that ends when the file is made."""
    gate = host.shared_file(name, ROGUE_ID)
    host.send(agent, f"gate {gate}", event_id=name)
    eventually(Path(f"{gate}.begun").exists, "the run has begun")
    return gate


def answer(host: Host, agent: str, gate: Path) -> list[str]:
    return texts(host.ask(agent, f"gate {gate}", event_id=gate.name))


def test_a_run_goes_on_through_an_upgrade_and_new_ones_go_to_the_new_version(rogue: Host, tmp_path: Path) -> None:
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


def _version_two(tmp_path: Path) -> Path:
    """Says from which version it is."""
    folder = tmp_path / "two"
    folder.mkdir()
    for file in ROGUE_PLUGIN.iterdir():
        if file.is_file():
            text = file.read_text().replace("version: 0.1.0", "version: 0.2.0")
            (folder / file.name).write_text(
                text.replace("results.completed(argument)", "results.completed(f'{argument} from 0.2.0')")
            )
    return folder
