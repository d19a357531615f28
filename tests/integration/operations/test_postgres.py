"""Tests a Host on PostgreSQL: it keeps the promises of SQLite and survives an outage of its database server."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.testing.postgres_server import PostgresServer
from tests.integration.conftest import MakeHost
from tests.support.chat import Chat
from tests.support.commands import parlour_here, refusal
from tests.support.harness import ECHO, ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN, Host, error_code, eventually, message, texts
from tests.support.plugins import write_remembering_plugin

Settings = dict[str, str]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


def postgres_settings(server: PostgresServer, database: str = "") -> Settings:
    """Returns the settings of a Host on this database, or on a new one."""
    return {"PARLOUR__DATABASE__URL": server.url(database or server.create())}


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.long), "postgres"])
def settings(request: pytest.FixtureRequest) -> Settings:
    return postgres_settings(request.getfixturevalue("server")) if request.param == "postgres" else {}


@pytest.fixture(scope="module")
def shared(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts one Host on PostgreSQL for all tests that leave it running."""
    host = Host(tmp_path_factory.mktemp("shared"), **postgres_settings(server))
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    host.start()
    yield host
    host.close()


async def test_a_message_is_answered_streamed_listed_and_stored(make_host: MakeHost, settings: Settings) -> None:
    host = make_host(ECHO_PLUGIN, **settings).start()
    agent = host.agent(config={"delay_ms": 5})
    odd = "nul \0, mark \x01, 中文 🎉"

    result = host.ask(agent, "one two three", event_id="first", conversation_id="chat")
    assert texts(host.ask(agent, odd, conversation_id="chat")) == [odd]
    async with Chat(host, agent) as chat:
        assert await chat.answer("over the socket") == "over the socket"

    assert host.ask(agent, "one two three", event_id="first", conversation_id="chat") == result
    step = SLOT_COUNT if settings else 1
    assert [event["seq"] for event in host.items("/events")] == [3 * step, 2 * step, step]
    assert len(host.items("/runs", agent_id=agent)) == 3
    said = [("user", "one two three"), ("assistant", "one two three"), ("user", odd), ("assistant", odd)]
    host.restart()
    assert host.transcript(result["conversation_id"]) == said
    assert texts(host.ask(agent, "still there", conversation_id="chat")) == ["still there"]
    assert (host.data / "parlour.db").exists() == (not settings)


@pytest.mark.long
def test_a_run_cut_off_by_a_stop_is_answered_after_the_next_start(make_host: MakeHost, settings: Settings) -> None:
    host = make_host(PUPPET_PLUGIN, **settings).start()
    start_marker = host.shared_file("begun")
    event = {"agent_id": host.agent(PUPPET), "text": f"second-attempt {start_marker}", "event_id": "cut"}
    host.send(**event)
    eventually(start_marker.exists, "the runner was called")

    host.restart()

    result = host.ask(**event)
    assert (result["outcome"], texts(result)) == ("answered", ["answered on attempt 2"])
    assert host.transcript(result["conversation_id"]) == [
        ("user", event["text"]),
        ("assistant", "answered on attempt 2"),
    ]


def test_after_a_kill_each_message_is_answered_or_its_sender_notified_once(
    make_host: MakeHost, settings: Settings
) -> None:
    host = make_host(ECHO_PLUGIN, **settings).start()
    agent = host.agent(ECHO, config={"delay_ms": 30})
    events = [
        {"agent_id": agent, "text": f"word {number}", "event_id": f"e{number}", "conversation_id": f"c{number % 4}"}
        for number in range(12)
    ]
    accepted = [host.send(**event) for event in events]
    step = SLOT_COUNT if settings else 1
    assert [each["seq"] for each in accepted] == [step * number for number in range(1, 13)]

    host.kill()
    host.start()

    results = [host.ask(**event) for event in events]
    assert [each["outcome"] in ("answered", "failed") for each in results] == [True] * 12
    for chat in range(4):
        conversation = accepted[chat]["conversation_id"]
        said = host.transcript(conversation)
        own = [event["text"] for event in events if event["conversation_id"] == f"c{chat}"]
        assert [text for speaker, text in said if speaker == "user"] == own
        assert len(said) == 2 * len(own), "each was answered or got a notice, once"


# The tests below concern PostgreSQL only.


def test_keys_are_made_listed_and_revoked_while_the_host_runs(shared: Host, server: PostgresServer) -> None:
    key = shared.key("viewer", "passing")
    assert shared.http(key).get("/agents").status_code == 200
    environment = shared._environment
    lines = parlour_here("keys", "list", "--data", shared.data, environment=environment).stdout.splitlines()
    [key_id] = [line.split()[0] for line in lines if line.endswith("passing")]

    revoked = parlour_here("keys", "revoke", key_id, "--data", shared.data, environment=environment)

    assert revoked.returncode == 0
    assert shared.http(key).get("/agents").status_code == 401


@pytest.mark.long
def test_a_second_host_on_the_same_database_is_refused_and_the_first_goes_on(shared: Host, make_host: MakeHost) -> None:
    other = make_host()

    sentence = refusal("serve", "--data", other.data, "--port", "0", environment=shared._environment)

    assert "already served by another Host" in sentence
    assert texts(shared.ask(shared.agent(), "still there?")) == ["still there?"]


def test_a_host_reports_a_lost_database_server_and_resumes_with_it(shared: Host, server: PostgresServer) -> None:
    agent = shared.agent()
    body = message(agent, "hello", event_id="refused", conversation_id="outage")
    server.stop()
    started_at = time.monotonic()
    answer = shared.http().post("/events?wait=result", json=body)
    assert (answer.status_code, error_code(answer)) == (503, "storage_unreachable")
    assert "start it" in answer.json()["error"]["message"]
    assert time.monotonic() - started_at < 15
    server.start()

    result = shared.http().post("/events?wait=result", json=body)

    assert texts(result.json()) == ["hello"]
    assert len(shared.transcript(result.json()["conversation_id"])) == 2


async def test_a_database_server_killed_under_load_costs_no_answer(shared: Host, server: PostgresServer) -> None:
    agent = shared.agent()
    answered: list[tuple[str, str]] = []
    conversations: set[str] = set()
    stopped = asyncio.Event()

    async def talk(name: str) -> None:
        number = 0
        async with shared.async_http() as http:
            while not stopped.is_set():
                text = f"{name} says {number}"
                body = message(agent, text, event_id=text, conversation_id=name)
                answer = await http.post("/events?wait=result", json=body)
                if answer.status_code == 503:  # a careful client sends the same event again
                    continue
                assert answer.status_code == 200, answer.text
                answered.append((text, *texts(answer.json())))
                conversations.add(answer.json()["conversation_id"])
                number += 1

    talking = asyncio.gather(*(talk(f"person {number}") for number in range(10)))
    await asyncio.to_thread(eventually, lambda: len(answered) > 30, "people talk")
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    before = len(answered)
    await asyncio.to_thread(eventually, lambda: len(answered) > before + 30, "people go on talking", 60)
    stopped.set()
    await talking

    assert [said for said, _ in answered] == [answer_text for _, answer_text in answered]
    for conversation in conversations:
        said = shared.transcript(conversation)
        spoken = [text for speaker, text in said if speaker == "user"]
        assert len(spoken) == len(set(spoken)), "nothing was taken twice"
        assert [text for speaker, text in said if speaker == "assistant"] == spoken


MEASURES_TIME = [pytest.mark.quiet, pytest.mark.long]


@pytest.mark.parametrize(
    ("lost", "seconds"),
    [
        pytest.param("stopped", 60, id="at all"),
        pytest.param("stopped", 10, marks=MEASURES_TIME, id="stopped"),
        pytest.param("frozen", 10, marks=MEASURES_TIME, id="frozen"),
    ],
)
@pytest.mark.long
def test_a_host_ends_in_time_without_its_server(make_host: MakeHost, lost: str, seconds: float) -> None:
    with PostgresServer() as mortal:
        host = make_host(ECHO_PLUGIN, **postgres_settings(mortal)).start()
        host.send(host.agent(ECHO, config={"hold_ms": 600_000}), "hold")
        eventually(lambda: host.items("/runs", status="running"), "a run is active")
        with server_down(mortal, lost):
            host.stop(seconds)


@contextmanager
def server_down(server: PostgresServer, lost: str) -> Iterator[None]:
    if lost == "stopped":
        server.stop()
        yield
        return
    processes = server.processes()
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("mysql://u:hunter2@localhost/parlour", "'database.url'"),
        ("postgresql://u:hunter2@localhost", "'database.url'"),
        ("postgresql://u:hunter2#@localhost/parlour", "'database.url'"),
        ("postgresql://u:hunter2@127.0.0.1:1/parlour", "does not answer"),
    ],
)
def test_an_unreachable_database_is_refused_without_showing_its_password(
    make_host: MakeHost, url: str, expected: str
) -> None:
    data = make_host().data
    for command in (("serve", "--port", "0"), ("keys", "list")):
        sentence = refusal(*command, "--data", data, environment={"PARLOUR__DATABASE__URL": url})
        assert expected in sentence
        assert "hunter2" not in sentence


def test_a_database_of_a_newer_parlour_is_left_alone(make_host: MakeHost, server: PostgresServer) -> None:
    name = server.create()
    data = make_host().data
    assert parlour_here("keys", "list", "--data", data, environment=postgres_settings(server, name)).returncode == 0
    server.execute("UPDATE alembic_version SET version_num = '9999'", name)

    sentence = refusal("serve", "--data", data, "--port", "0", environment=postgres_settings(server, name))

    assert "newer" in sentence
    assert "9999" in sentence


@pytest.mark.long
def test_stored_values_of_a_plugin_are_deleted_with_its_data_while_no_host_runs(
    make_host: MakeHost, server: PostgresServer, tmp_path: Path
) -> None:
    settings = postgres_settings(server)
    folder = write_remembering_plugin(tmp_path / "plugin", "remembering")
    host = make_host(folder, **settings).start()
    agent = host.agent("plugin:test/remembering/default")
    assert texts(host.ask(agent, "secret")) == ["nothing"]
    host.stop()

    words = ("plugin", "remove", "test/remembering", "--delete-data", "--data", host.data)
    unreachable = {"PARLOUR__DATABASE__URL": "postgresql://nobody@127.0.0.1:1/nothing"}
    assert "test/remembering is not removed yet" in refusal(*words, environment=unreachable)
    assert parlour_here(*words, environment=settings).returncode == 0

    host.install(folder)
    host.start()
    assert texts(host.ask(agent, "again")) == ["nothing"]
