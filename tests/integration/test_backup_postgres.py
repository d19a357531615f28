"""A backup of a Host on PostgreSQL holds everything at one instant, and comes back on PostgreSQL or in a file."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from parlour.testing.postgres_server import PostgresServer

from .commands import parlour_here, refusal
from .harness import ECHO_PLUGIN, Host, eventually

ODD = "nul \0, mark \x01, 中文 🎉"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


def on(url: str) -> dict[str, str]:
    return {"PARLOUR__DATABASE__URL": url}


class Saved(NamedTuple):
    file: Path
    url: str
    told: list[str]
    owed: str


@pytest.fixture(scope="module")
def saved(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Made while messages come in, of a Host that is killed then."""
    folder = tmp_path_factory.mktemp("saved")
    url = server.url(server.create())
    host = Host(folder, **on(url))
    host.install(ECHO_PLUGIN)
    host.start()
    quick, slow = host.agent(), host.agent(config={"hold_ms": 600_000})
    told = [host.ask(quick, f"{number} {ODD}", conversation_id="chat")["event_id"] for number in range(5)]
    owed = host.send(slow, "still owed")["event_id"]
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
    return Saved(folder / "one.backup", url, told, owed)


@pytest.mark.parametrize(
    "elsewhere", [pytest.param(True, id="postgres", marks=pytest.mark.long), pytest.param(False, id="file")]
)
def test_what_was_told_is_there_and_what_was_owed_is_taken_up_once(
    saved: Saved, server: PostgresServer, tmp_path: Path, elsewhere: bool
) -> None:
    settings = on(server.url(server.create())) if elsewhere else {}
    brought = parlour_here("restore", saved.file, "--data", tmp_path / "data", environment=settings)
    assert brought.returncode == 0, brought.stderr
    assert (tmp_path / "data" / "parlour.db").exists() != elsewhere

    host = Host(tmp_path, **settings).start()
    try:
        events = host.items("/events")
        runs = eventually(lambda: of_event(host, saved.owed, 2), "the owed one is taken up again")
        [chat] = {event["conversation_id"] for event in events if event["event_id"] in saved.told}
        assert [text for _, text in host.transcript(chat)] == [f"{n} {ODD}" for n in range(5) for _ in range(2)]
        assert sorted(run["status"] for run in runs) == ["failed", "running"]
        quick = next(each for each in host.items("/agents") if not each["runner_config"].get("hold_ms"))
        later = host.ask(quick["agent_id"], "goes on", conversation_id="another")
        assert host.items("/events")[0]["seq"] > max(event["seq"] for event in events), "numbers go on"
        found = host.http().get(f"/conversations/{later['conversation_id']}/transcript", params={"q": "goes"}).json()
        assert len(found["items"]) == 2
    finally:
        host.kill()


def of_event(host: Host, event_id: str, count: int) -> list[dict[str, object]]:
    runs = [run for run in host.items("/runs") if run["event_id"] == event_id]
    return runs if len(runs) == count else []


def test_a_database_that_is_in_use_is_not_written_over(saved: Saved, tmp_path: Path) -> None:
    told = refusal(
        "restore", saved.file, "--data", tmp_path / "data", environment={"PARLOUR__DATABASE__URL": saved.url}
    )

    assert "is in use already: name an empty database with database.url" in told
    assert not (tmp_path / "data").exists()
