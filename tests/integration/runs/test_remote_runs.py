"""Tests runs for remote workers through real processes: queued from inside a run, claimed, fed, ended, cancelled."""

from collections.abc import Iterator

import pytest

from tests.support.harness import ROOT, Host, eventually, texts

FORGE_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "forge-agent"
FOREMAN = "plugin:test/forge-agent/default"


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("the forge"))
    host.install(FORGE_PLUGIN)
    host.start()
    yield host
    host.close()


def queued(host: Host, agent: str, text: str) -> str:
    return texts(host.ask(agent, text))[0]


def test_a_queued_run_is_executed_by_the_worker_that_claims_it(forge: Host) -> None:
    agent = forge.agent(FOREMAN)
    run_id = queued(forge, agent, "answer a sword")
    run = eventually(lambda: _finished_run(forge, run_id), "the worker ends the run")
    assert (run["status"], run["error"]) == ("completed", None)
    answer = "forged a sword, a stale lease is unauthorized, a call with it unauthorized"
    assert forge.transcript(run["conversation_id"]) == [("user", "answer a sword"), ("assistant", answer)]
    events = [event["type"] for event in forge.items(f"/runs/{run_id}/events")]
    assert events == ["message.completed"]
    runtimes = forge.items("/runtimes")
    assert [(each["runtime_id"], each["status"], each["slots"]) for each in runtimes] == [("anvil", "active", 4)]


def test_a_cancelled_remote_run_ends_and_its_worker_executes_the_next_one(forge: Host) -> None:
    agent = forge.agent(FOREMAN)
    run_id = queued(forge, agent, "wait")
    eventually(lambda: forge.run(run_id)["status"] == "running", "the worker has begun")
    assert forge.http().post(f"/runs/{run_id}/cancel").json()["status"] == "cancelled"
    after = queued(forge, agent, "answer a plough")
    assert eventually(lambda: _finished_run(forge, after), "the worker executed it")["status"] == "completed"


def _finished_run(host: Host, run_id: str) -> dict[str, object] | None:
    run = host.run(run_id)
    return run if run["finished_at"] else None
