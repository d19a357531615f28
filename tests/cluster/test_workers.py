"""Workers on other machines, as real processes: they execute runs, and are killed, paused, cut off and revoked."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import parlour_here
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, PUPPET, PUPPET_PLUGIN, Host, eventually
from tests.support.network import network_to
from tests.support.workers import Worker, finished_run, runtime, worker_key


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("host"), **NO_RUN_LIMITS)
    host.install(PUPPET_PLUGIN)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def key(host: Host) -> str:
    return str(worker_key(host, ["gpu", "cpu", "own"])["key"])


@pytest.fixture(scope="module")
def anvil(host: Host, key: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker with the labels of its key, for tests that leave it as it is."""
    worker = Worker(tmp_path_factory.mktemp("anvil"), "anvil", host.address, key, LABELS="cpu,gpu")
    worker.install().install(ECHO_PLUGIN).start()
    yield worker
    worker.stop()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def puppet(host: Host, labels: list[str] | None = None, **fields: Any) -> str:
    return host.agent(PUPPET, on_workers=True, worker_labels=labels or [], **fields)


def other(stack: ExitStack, folder: Path, name: str, url: str, key: str, **settings: object) -> Worker:
    """Starts another worker, which ends with the test."""
    worker = Worker(folder, name, url, key, **settings).install()
    stack.callback(worker.close)
    return worker.start()


def doctor(folder: Path, environment: dict[str, str]) -> str:
    """Returns what `parlour doctor` says about the worker."""
    said = parlour_here("doctor", "--data", folder / "examined", environment=environment).stdout
    return next(line for line in said.splitlines() if line.split()[1:2] == ["worker"])


@contextmanager
def busy(host: Host, worker: Worker) -> Iterator[None]:
    """Occupies all slots of a worker, so that others get the next runs."""
    agents = [puppet(host, ["gpu"]) for _ in range(runtime(host, worker.name)["slots"])]
    for agent in agents:
        host.send(agent, "sleep")
    eventually(lambda: runtime(host, worker.name)["used_slots"] == len(agents), "the worker is busy")
    try:
        yield
    finally:
        for agent in agents:
            host.http().post(f"/runs/{host.active_run(agent)}/cancel")


def two_attempts(host: Host, agent_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the first and the second run of an agent, once both are over."""
    runs = eventually(
        lambda: [run for run in runs_of(host, agent_id) if run["finished_at"]][1:] and runs_of(host, agent_id),
        "the run was tried again",
    )
    assert len(runs) == 2
    return runs[0], runs[1]


def answers(host: Host, conversation_id: str) -> list[str]:
    """Returns what the user was shown, in order."""
    return [text for speaker, text in host.transcript(conversation_id) if speaker != "user"]


def runs_of(host: Host, agent_id: str) -> list[dict[str, Any]]:
    """Returns the runs of an agent, oldest first."""
    return host.items("/runs", agent_id=agent_id)[::-1]


def test_worker_executes_runs_with_the_effects_of_an_online_run(host: Host, anvil: Worker) -> None:
    agent = host.agent(ECHO, on_workers=True, worker_labels=["gpu"], config={"remember": True})
    first, second = host.ask(agent, "one two", conversation_id="c"), host.ask(agent, "three", conversation_id="c")
    run = host.run(second["run"]["run_id"])
    assert (run["status"], run["claimed_by"]) == ("completed", "anvil")
    assert answers(host, run["conversation_id"]) == ["1 one two", "2 three"]
    events = [event["type"] for event in host.items(f"/runs/{first['run']['run_id']}/events")]
    online = host.ask(host.agent(ECHO, config={"remember": True}), "one two")
    assert events == [event["type"] for event in host.items(f"/runs/{online['run']['run_id']}/events")]
    known = runtime(host, "anvil")
    assert (known["status"], known["labels"], known["plugin_id"]) == ("active", ["cpu", "gpu"], None)


def test_run_of_a_killed_worker_is_executed_by_another_one(
    host: Host, anvil: Worker, key: str, stack: ExitStack, tmp_path: Path
) -> None:
    doomed = other(stack, tmp_path, "doomed", host.address, key, LABELS="cpu")
    started, agent = doomed.shared_file("killed"), puppet(host, ["cpu"])
    with busy(host, anvil):
        host.send(agent, f"second-attempt {started}")
        eventually(started.exists, "the worker executes the run")
        doomed.kill()
    lost, repeated = two_attempts(host, agent)
    assert (lost["status"], lost["status_reason"], lost["claimed_by"]) == ("failed", "interrupted", "doomed")
    assert (repeated["status"], repeated["claimed_by"]) == ("completed", "anvil")
    assert answers(host, repeated["conversation_id"]) == ["answered on attempt 2"]
    assert runtime(host, "doomed")["status"] == "gone"


def test_stopping_worker_ends_its_runs_and_claims_no_more(
    host: Host, key: str, stack: ExitStack, tmp_path: Path
) -> None:
    leaving = other(stack, tmp_path, "leaving", host.address, key, LABELS="own", DRAIN_SECONDS=30)
    passed = leaving.shared_file("opened")
    agent, later = puppet(host, ["own"]), puppet(host, ["own"])
    host.send(agent, f"gate {passed}")
    run_id = host.active_run(agent)
    leaving.terminate()
    eventually(lambda: "active runs" in leaving.log(), "the worker drains")
    host.send(later, "say late")
    passed.touch()
    assert leaving.exit_status() == 0
    assert answers(host, finished_run(host, run_id)["conversation_id"]) == ["waiting is over"]
    assert [run["status"] for run in runs_of(host, later)] == ["queued"]
    assert runtime(host, "leaving")["status"] == "gone"


@pytest.mark.long
def test_paused_worker_loses_its_run_and_its_late_answer_is_not_shown(
    host: Host, key: str, stack: ExitStack, tmp_path: Path
) -> None:
    frozen = other(stack, tmp_path, "frozen", host.address, key, LABELS="own")
    opened, agent = frozen.shared_file("opened"), puppet(host, ["own"], restart_policy="never")
    host.send(agent, f"gate {opened}")
    lost_id = host.active_run(agent)
    frozen.pause()
    lost = eventually(lambda: finished_run(host, lost_id), "the paused worker lost the run")
    opened.touch()  # the runner answers as soon as it goes on
    frozen.resume()
    eventually(lambda: runtime(host, "frozen")["status"] == "active", "the worker is back")
    next_run = host.ask(agent, "say next", conversation_id="next")["run"]
    assert (lost["status"], lost["status_reason"]) == ("failed", "interrupted")
    assert "message.completed" not in [event["type"] for event in host.items(f"/runs/{lost_id}/events")]
    assert "waiting is over" not in answers(host, lost["conversation_id"])
    assert next_run["claimed_by"] == "frozen"


@pytest.mark.long
def test_run_survives_a_short_cut_of_the_network(host: Host, key: str, stack: ExitStack, tmp_path: Path) -> None:
    network = stack.enter_context(network_to(host.address.replace("http", "ws")))
    distant = other(stack, tmp_path, "distant", network.url.replace("ws", "http"), key, LABELS="own", LEASE_SECONDS=20)
    opened, agent = distant.shared_file("opened"), puppet(host, ["own"])
    host.send(agent, f"gate {opened}")
    run_id = host.active_run(agent)
    network.cut()
    opened.touch()
    eventually(lambda: "can't be reached" in distant.log(), "the worker has noticed the cut")
    network.restore()
    run = eventually(lambda: finished_run(host, run_id), "the answer arrives")
    assert (run["status"], run["claimed_by"], run["attempt"]) == ("completed", "distant", 1)
    assert answers(host, run["conversation_id"]) == ["waiting is over"]


@pytest.mark.long
def test_run_is_retried_elsewhere_after_a_long_silence_and_shown_once(
    host: Host, anvil: Worker, key: str, stack: ExitStack, tmp_path: Path
) -> None:
    network = stack.enter_context(network_to(host.address.replace("http", "ws")))
    distant = other(stack, tmp_path, "silenced", network.url.replace("ws", "http"), key, LABELS="cpu")
    started, agent = distant.shared_file("started"), puppet(host, ["cpu"])
    with busy(host, anvil):
        host.send(agent, f"second-attempt {started}")
        eventually(started.exists, "the worker executes the run")
        network.silence()
    lost, repeated = two_attempts(host, agent)
    eventually(lambda: "its lease expired" in distant.log() or "can't be reached" in distant.log(), "it gives up")
    network.restore()
    eventually(lambda: runtime(host, "silenced")["status"] == "active", "the worker is back")
    assert (lost["claimed_by"], lost["status_reason"]) == ("silenced", "interrupted")
    assert (repeated["status"], repeated["claimed_by"]) == ("completed", "anvil")
    assert answers(host, repeated["conversation_id"]) == ["answered on attempt 2"]


@pytest.mark.long
def test_revoked_key_takes_the_run_and_ends_the_worker(
    host: Host, anvil: Worker, stack: ExitStack, tmp_path: Path
) -> None:
    own_key = worker_key(host, ["cpu"], [PUPPET])
    banned = other(stack, tmp_path, "banned", host.address, own_key["key"])
    assert runtime(host, "banned")["runners"] == [PUPPET]
    started, agent = banned.shared_file("started"), puppet(host, ["cpu"])
    with busy(host, anvil):
        host.send(agent, f"second-attempt {started}")
        eventually(started.exists, "the worker executes the run")
        assert host.http().delete(f"/api-keys/{own_key['key_id']}").status_code == 204
        assert banned.exit_status() == 1
    assert "refuses this worker" in banned.log()
    lost, repeated = two_attempts(host, agent)
    assert (lost["claimed_by"], lost["status_reason"]) == ("banned", "interrupted")
    assert repeated["claimed_by"] == "anvil"


@pytest.mark.long
def test_run_goes_on_while_its_host_is_restarted(stack: ExitStack, tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    host = Host(tmp_path / "host", **NO_RUN_LIMITS)
    host.install(PUPPET_PLUGIN)
    host.start()
    stack.callback(host.close)
    network = stack.enter_context(network_to(host.address.replace("http", "ws")))
    key = worker_key(host)["key"]
    worker = other(stack, tmp_path, "loyal", network.url.replace("ws", "http"), key, LEASE_SECONDS=30)
    opened, agent = worker.shared_file("opened"), puppet(host)
    host.send(agent, f"gate {opened}")
    run_id = host.active_run(agent)
    host.kill()
    network.cut()
    host.start()
    network.redirect(host.address.replace("http", "ws"))
    network.restore()
    opened.touch()
    run = eventually(lambda: finished_run(host, run_id), "the answer arrives")
    assert (run["status"], run["claimed_by"]) == ("completed", "loyal")
    assert answers(host, run["conversation_id"]) == ["waiting is over"]


@pytest.mark.long
def test_key_of_a_worker_opens_nothing_else_and_its_bounds_hold(host: Host, stack: ExitStack, tmp_path: Path) -> None:
    own_key = worker_key(host, ["cpu"], [ECHO])
    assert host.http(own_key["key"]).get("/runtimes").status_code == 403
    environment = {"PARLOUR__WORKER__URL": host.address, "PARLOUR__WORKER__TOKEN": own_key["key"]}
    assert "can connect to the Host" in doctor(tmp_path, environment)
    assert "can't execute runs" in doctor(tmp_path, {**environment, "PARLOUR__WORKER__TOKEN": host.key("viewer")})
    cases = {"LABELS": "gpu"}, {"NAME": "other"}
    for number, settings in enumerate(cases):
        worker = Worker(tmp_path, f"refused{number}", host.address, own_key["key"], **settings).install()
        stack.callback(worker.close)
        worker.begin()
        assert worker.exit_status() == 1
        assert "refuses this worker" in worker.log()
