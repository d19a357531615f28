"""Tests a real kill -9 before and after each unit of a job: calls of webhooks and deliveries to listeners.

A webhook call is repeated only if the kill came between the call and its record; then it has the same id, and the trail
of its event has the number of attempts. A listener receives each event at least once, in the order of the events.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from parlour.core.config.routes import Route, RouteRepository
from parlour.core.journal import Row, Select, where
from parlour.core.store.tables import JOBS, TRAIL
from parlour.core.system import SystemIds
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.line_platform import BOT
from tests.crash.conftest import Prepared, RestartableHost, free_port, parlour
from tests.crash.platform import People
from tests.crash.test_kill import Sqlite
from tests.support.hooks import Hooks

OBSERVING_PLUGIN = Path(__file__).parents[1] / "fixtures" / "plugins" / "observing.py"
SETTINGS = {"PARLOUR__TOOLS__ALLOWED_ADDRESSES": "127.0.0.1/32", "PARLOUR__PLUGINS__BUNDLED": "false"}
SECONDS = 60
HOOK = {
    "method": "POST",
    "sealed_secret": "",
    "sealed_headers": "",
    "header_names": [],
    "timeout": 30,
    "retry_count": 3,
    "retry_interval": 0.2,
    "response_actions": False,
}


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    with Hooks().serving() as hooks:
        yield hooks


@pytest.fixture(scope="module")
def observed(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a data directory with a plugin that observes messages."""
    data = tmp_path_factory.mktemp("observed") / "data"
    shutil.copytree(prepared.data, data)
    parlour({}, "plugin", "install", str(OBSERVING_PLUGIN), "--data", str(data))
    return data


@pytest.fixture
async def hooked_host(
    prepared: Prepared, people: People, hooks: Hooks, tmp_path: Path
) -> AsyncIterator[RestartableHost]:
    """Provides a Host that passes all messages to the webhook."""
    shutil.copytree(prepared.data, tmp_path / "data")
    async with SqliteJournal(tmp_path / "data" / "parlour.db") as journal:
        routes = RouteRepository(journal, SystemIds())
        await routes.load()
        await routes.replace(BOT, [Route("*", "webhook", {**HOOK, "url": hooks.url}, description="hook")])
    host = RestartableHost(tmp_path / "data", free_port(), people.port, prepared.echo, SETTINGS)
    yield host
    end(host)


@pytest.fixture
async def observed_host(
    observed: Path, prepared: Prepared, people: People, tmp_path: Path
) -> AsyncIterator[RestartableHost]:
    shutil.copytree(observed, tmp_path / "data")
    host = RestartableHost(tmp_path / "data", free_port(), people.port, prepared.echo, SETTINGS)
    yield host
    end(host)


def end(host: RestartableHost) -> None:
    for process in host.processes:
        process.kill()
        process.wait()


async def eventually(host: RestartableHost, holds: Callable[[], bool]) -> None:
    """Waits for what another process does. An error shows the end of the Host's log."""
    try:
        async with asyncio.timeout(SECONDS):
            while not holds():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError((host.data / "host.log").read_text()[-2000:]) from None


async def kill_at(point: str, host: RestartableHost, people: People, *event_ids: str) -> None:
    """Sends messages to a Host that is killed at a point, and starts it again."""
    process = host.start(point)
    await host.ready()
    for event_id in event_ids:
        people.say(event_id, "chat", f"text of {event_id}")
    assert await host.died(process, SECONDS), f"{point} was not reached: {(host.data / 'host.log').read_text()[-2000:]}"
    host.start()
    await host.ready()
    await people.wait(lambda: people.accepted == set(event_ids), SECONDS)


def jobs(host: RestartableHost, kind: str) -> list[Row]:
    return Sqlite(host.data / "parlour.db").read(Select(JOBS, where(kind=kind)))


def rare(*values: object) -> object:
    """Returns a row of parameters that `make test` leaves out."""
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize(
    ("point", "statuses", "calls", "attempts"),
    [
        rare("job.begin:before", [], 1, 1),
        rare("job.begin:after", [], 1, 2),
        ("job.end:before", [], 2, 2),
        rare("job.end:after", [], 1, 1),
        rare("job.wait:before", [503], 2, 2),
        rare("job.wait:after", [503], 2, 2),
        rare("job.begin:before#2", [503], 2, 2),
        rare("job.begin:after#2", [503], 2, 3),
        rare("job.end:before", [503], 3, 3),
    ],
)
async def test_a_webhook_is_called_once_or_its_repetition_is_marked_when_the_host_is_killed_at(
    point: str,
    statuses: list[int],
    calls: int,
    attempts: int,
    hooked_host: RestartableHost,
    hooks: Hooks,
    people: People,
) -> None:
    hooks.answers.extend((status, None) for status in statuses)

    await kill_at(point, hooked_host, people, "call")
    await eventually(hooked_host, lambda: not people.unaccepted and not jobs(hooked_host, "webhook"))
    hooked_host.stop()

    assert [each.event["event_id"] for each in hooks.received] == ["call"] * calls
    assert len({each.headers["webhook-id"] for each in hooks.received}) == 1, "the receiver recognizes a repetition"
    [note] = Sqlite(hooked_host.data / "parlour.db").read(Select(TRAIL, where(step="webhook")))
    assert json.loads(note["data"])["tries"] == attempts
    assert "The webhook took it" in note["data"]


@pytest.mark.parametrize(
    ("point", "event_ids", "expected"),
    [
        ("job.end:before", ("one", "two"), ["one", "one", "two"]),
        rare("job.end:after", ("one", "two"), ["one", "two"]),
        rare("job.end:before#2", ("one", "two"), ["one", "two", "two"]),
        rare("job.wait:before", ("crash", "two"), ["crash", "crash", "two"]),
        rare("job.wait:after", ("crash", "two"), ["crash", "crash", "two"]),
        rare("job.end:before", ("crash", "two"), ["crash", "crash", "crash", "two"]),
    ],
)
async def test_a_listener_receives_each_event_in_order_when_the_host_is_killed_at(
    point: str, event_ids: tuple[str, ...], expected: list[str], observed_host: RestartableHost, people: People
) -> None:
    file = observed_host.data / "plugin-data" / "test/observing" / "observed.txt"

    await kill_at(point, observed_host, people, *event_ids)
    await eventually(observed_host, lambda: not jobs(observed_host, "listener") and "two" in file.read_text())
    observed_host.stop()

    assert file.read_text().split() == expected, "only the delivery whose end was not recorded is repeated"
