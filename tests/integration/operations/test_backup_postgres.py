"""Tests that a backup of a Host on PostgreSQL holds one instant and is restored to PostgreSQL or to a file."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from parlour.testing.postgres_server import PostgresServer
from tests.support.commands import parlour_here, refusal
from tests.support.harness import ECHO_PLUGIN, Host, eventually

pytestmark = pytest.mark.long
ODD_CHARACTERS = "nul \0, mark \x01, 中文 🎉"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


def postgres_settings(url: str) -> dict[str, str]:
    return {"PARLOUR__DATABASE__URL": url}


class Backup(NamedTuple):
    file: Path
    url: str
    answered: list[str]
    pending: str


@pytest.fixture(scope="module")
def backup(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Backup:
    """Makes a backup while messages come in, and kills the Host afterwards."""
    folder = tmp_path_factory.mktemp("saved")
    url = server.url(server.create())
    host = Host(folder, **postgres_settings(url))
    host.install(ECHO_PLUGIN)
    host.start()
    quick, slow = host.agent(), host.agent(config={"hold_ms": 600_000})
    answered = [
        host.ask(quick, f"{number} {ODD_CHARACTERS}", conversation_id="chat")["event_id"] for number in range(5)
    ]
    pending = host.send(slow, "still pending")["event_id"]
    host.active_run(slow)
    stop = threading.Event()
    load = threading.Thread(target=lambda: [host.ask(quick, "more") for _ in iter(stop.is_set, True)])
    load.start()
    made = parlour_here(
        "backup", folder / "one.backup", "--data", host.data, environment={"PARLOUR__DATABASE__URL": url}
    )
    stop.set()
    load.join()
    host.kill()
    assert made.returncode == 0, made.stderr
    return Backup(folder / "one.backup", url, answered, pending)


@pytest.mark.parametrize(
    "elsewhere", [pytest.param(True, id="postgres", marks=pytest.mark.long), pytest.param(False, id="file")]
)
def test_answered_events_are_restored_and_a_pending_event_is_run_again_once(
    backup: Backup, server: PostgresServer, tmp_path: Path, elsewhere: bool
) -> None:
    settings = postgres_settings(server.url(server.create())) if elsewhere else {}
    brought = parlour_here("restore", backup.file, "--data", tmp_path / "data", environment=settings)
    assert brought.returncode == 0, brought.stderr
    assert (tmp_path / "data" / "parlour.db").exists() != elsewhere

    host = Host(tmp_path, **settings).start()
    try:
        events = host.items("/events")
        runs = eventually(lambda: runs_of_event(host, backup.pending, 2), "the pending event is run again")
        [chat] = {event["conversation_id"] for event in events if event["event_id"] in backup.answered}
        assert [text for _, text in host.transcript(chat)] == [
            f"{n} {ODD_CHARACTERS}" for n in range(5) for _ in range(2)
        ]
        assert sorted(run["status"] for run in runs) == ["failed", "running"]
        quick = next(each for each in host.items("/agents") if not each["runner_config"].get("hold_ms"))
        later = host.ask(quick["agent_id"], "goes on", conversation_id="another")
        assert host.items("/events")[0]["seq"] > max(event["seq"] for event in events), "numbers go on"
        found = host.http().get(f"/conversations/{later['conversation_id']}/transcript", params={"q": "goes"}).json()
        assert len(found["items"]) == 2
    finally:
        host.kill()


def runs_of_event(host: Host, event_id: str, count: int) -> list[dict[str, object]]:
    runs = [run for run in host.items("/runs") if run["event_id"] == event_id]
    return runs if len(runs) == count else []


def test_a_database_that_is_in_use_is_not_overwritten(backup: Backup, tmp_path: Path) -> None:
    error = refusal(
        "restore", backup.file, "--data", tmp_path / "data", environment={"PARLOUR__DATABASE__URL": backup.url}
    )

    assert "is in use already: name an empty database with database.url" in error
    assert not (tmp_path / "data").exists()
