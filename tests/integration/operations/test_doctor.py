"""Tests that `parlour doctor` names cause and remedy of each fault, and nothing else."""

import json
import os
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from parlour.testing.network import free_port
from parlour.testing.postgres_server import PostgresServer
from tests.support.commands import parlour_here
from tests.support.harness import Host, eventually

Environment = Mapping[str, str]


@dataclass(frozen=True)
class Broken:
    """Describes a fault: how it is made in a valid data directory, and which cause and remedy are reported."""

    name: str
    cause: str
    remedy: str
    spoil: Callable[[Path], None] = lambda data: None
    settings: Environment = field(default_factory=dict)


def damaged(data: Path) -> None:
    """Overwrites the first page of the tables and leaves the header intact."""
    with (data / "parlour.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3996)


def foreign(data: Path) -> None:
    (data / "parlour.db").unlink()
    with closing(sqlite3.connect(data / "parlour.db")) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")


def newer(data: Path) -> None:
    with closing(sqlite3.connect(data / "parlour.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()


def bot(data: Path, name: str = "Ann", **fields: object) -> None:
    definition = {"name": name, "adapter": "onebot11", "config": {}, "secrets": {}, "enabled": True, **fields}
    with closing(sqlite3.connect(data / "parlour.db")) as connection:
        connection.execute("INSERT INTO bots VALUES (?, ?, 0, 0)", (name, json.dumps(definition)))
        connection.commit()


def two_on_one_port(data: Path) -> None:
    for name in ("Ann", "Bob"):
        bot(data, name, config={"mode": "reverse", "host": "127.0.0.1", "port": 6700})


def key_of_another(data: Path) -> None:
    bot(data, secrets={"access_token": "c2VhbGVkIHdpdGggYW5vdGhlciBrZXkgdGhhbiB0aGlz"})
    (data / "secret.key").write_bytes(os.urandom(32))
    (data / "secret.key").chmod(0o600)


def no_key(data: Path) -> None:
    bot(data, secrets={"access_token": "c2VhbGVk"})


def open_key(data: Path) -> None:
    (data / "secret.key").write_bytes(os.urandom(32))
    (data / "secret.key").chmod(0o644)


def half_a_key(data: Path) -> None:
    (data / "secret.key").write_bytes(b"half")


def damaged_record(data: Path) -> None:
    home = data / "plugins" / "test" / "hello"
    home.mkdir(parents=True)
    (home / "record.json").write_text("{")


SETUPS = [
    Broken("a damaged database", "is damaged or is no database", "restore a backup", damaged),
    Broken("another program's database", "database of another program", "correct database.url", foreign),
    Broken("a newer database", "made by a newer Parlour", "update Parlour", newer),
    Broken(
        "a database server that is not there",
        "database",
        "start what it names",
        settings={"PARLOUR__DATABASE__URL": "postgresql://nobody@127.0.0.1:1/none"},
    ),
    Broken("secrets without their key", "secret.key is missing", "put it back from a backup", no_key),
    Broken("a key that is none", "secret.key is no key", "put the key file of this database back", half_a_key),
    Broken("secrets of another key", "bot 'Ann': its secrets can't be read", "enter the secret anew", key_of_another),
    Broken(
        "two bots on one port", "Ann and Bob listen on the same 127.0.0.1:6700", "a port of its own", two_on_one_port
    ),
    Broken(
        "a OneBot bot without a token that other machines reach",
        "bot 'Ann' has no access token and is not started",
        "set access_token",
        lambda data: bot(data, config={"mode": "reverse", "host": "0.0.0.0", "port": 6700}),
    ),
    Broken(
        "a platform that is not here",
        "bot 'Ann' needs the platform telegraph",
        "delete the bot",
        lambda data: bot(data, adapter="telegraph"),
    ),
    Broken(
        "a sandbox that must be and can't",
        "plugins.bubblewrap names '/no/such/bwrap'",
        "correct it",
        settings={"PARLOUR__PLUGINS__SANDBOX": "required", "PARLOUR__PLUGINS__BUBBLEWRAP": "/no/such/bwrap"},
    ),
    Broken(
        "a plugin's damaged record",
        "test/hello can't run: its record (record.json) is damaged",
        "parlour plugin remove test/hello",
        damaged_record,
    ),
    Broken(
        "a runtime that is not there",
        "nobody listens at 127.0.0.1:1",
        "start it with parlour runtime",
        settings={"PARLOUR__RUNTIME__URL": "ws://127.0.0.1:1", "PARLOUR__RUNTIME__TOKEN": "secret"},
    ),
    Broken(
        "a bucket that is not there",
        "artifacts",
        "correct artifacts.s3",
        settings={
            "PARLOUR__ARTIFACTS__STORE": "s3",
            "PARLOUR__ARTIFACTS__S3__ENDPOINT": "http://127.0.0.1:1",
            "PARLOUR__ARTIFACTS__S3__BUCKET": "none",
            "PARLOUR__ARTIFACTS__S3__ACCESS_KEY": "nobody",
            "PARLOUR__ARTIFACTS__S3__SECRET_KEY": "secret",
        },
    ),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Creates the data directory of a Host without faults."""
    assert parlour_here("db", "upgrade", "--data", tmp_path / "data").returncode == 0
    return tmp_path / "data"


@contextmanager
def port_in_use() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


def run_doctor(data: Path, environment: Environment, port: int = 0) -> tuple[int, list[str]]:
    """Returns the exit status and the problems, each with its remedy on one line."""
    finished = parlour_here("doctor", "--data", data, "--port", port, environment=environment)
    assert finished.stderr == ""
    joined = finished.stdout.replace("\n" + " " * 22 + "->", " ->")
    return finished.returncode, [line for line in joined.splitlines() if line.startswith("problem")]


def test_a_valid_data_directory_has_no_problems(data: Path) -> None:
    assert run_doctor(data, {}) == (0, [])


@pytest.mark.parametrize("broken", SETUPS, ids=lambda broken: broken.name)
def test_each_fault_is_named_with_its_remedy(data: Path, broken: Broken) -> None:
    broken.spoil(data)

    status, problems = run_doctor(data, broken.settings)

    assert status == 1
    assert len(problems) == 1, problems
    cause, _, remedy = problems[0].partition(" -> ")
    assert broken.cause in cause
    assert broken.remedy in remedy
    assert "secret" not in cause.replace("secret.key", "").replace("secrets", "")


@pytest.mark.long
def test_secrets_without_their_key_are_found_in_postgresql(tmp_path: Path) -> None:
    with PostgresServer() as database:
        name = database.create()
        settings = {"PARLOUR__DATABASE__URL": database.url(name)}
        assert parlour_here("db", "upgrade", "--data", tmp_path / "data", environment=settings).returncode == 0
        before = run_doctor(tmp_path / "data", settings)
        definition = {"name": "Ann", "kind": "openai", "base_url": "", "sealed_keys": ["c2VhbGVk"]}
        database.execute(f"INSERT INTO model_providers VALUES ('p', '{json.dumps(definition)}', 0, 0)", name)

        status, problems = run_doctor(tmp_path / "data", settings)

    assert before == (0, [])
    assert status == 1
    assert len(problems) == 1, problems
    assert "secret.key is missing -> put it back from a backup" in problems[0]


def test_a_port_in_use_is_named(data: Path) -> None:
    with port_in_use() as port:
        status, problems = run_doctor(data, {}, port)

    assert status == 1
    assert f"127.0.0.1:{port} can't be listened on" in problems[0]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    status, problems = run_doctor(tmp_path / "file", {})

    assert status == 1
    assert "is not a folder" in problems[0]


@pytest.mark.parametrize(
    ("settings", "expected", "remedy"),
    [
        ({"PUBLIC_URL": "https://chat.example.org"}, "no proxy is trusted", "set http.trusted_proxies"),
        ({"TRUSTED_PROXIES": "127.0.0.1"}, "http.public_url is not set", "set http.public_url"),
        (
            {"PUBLIC_URL": "https://chat.example.org", "TRUSTED_PROXIES": "0.0.0.0/0"},
            "trusts every address",
            "name only the proxy's own address",
        ),
    ],
)
def test_inconsistent_proxy_settings_are_warned_about(
    data: Path, settings: dict[str, str], expected: str, remedy: str
) -> None:
    environment = {f"PARLOUR__HTTP__{name}": value for name, value in settings.items()}
    finished = parlour_here("doctor", "--data", data, "--port", 0, environment=environment)

    [line] = [line for line in joined(finished.stdout) if line.startswith("warning  proxy")]
    assert expected in line
    assert remedy in line


def test_a_public_address_of_another_host_is_warned_about(tmp_path: Path) -> None:
    settings = {"PARLOUR__HTTP__PUBLIC_URL": f"http://127.0.0.1:{free_port()}/chat"}
    host = Host(tmp_path, **settings).start()
    try:
        lost = parlour_here("doctor", "--data", host.data, environment=settings).stdout
        found = {"PARLOUR__HTTP__PUBLIC_URL": host.address}
        right = parlour_here("doctor", "--data", host.data, environment=found).stdout
    finally:
        host.close()

    assert [line for line in joined(lost) if line.startswith("warning  proxy") and "can't be reached" in line]
    assert [line for line in joined(right) if line.startswith("ok       proxy") and "leads to a Host" in line]


@pytest.mark.parametrize(
    ("path", "base_path", "expected"),
    [
        ("", "", "is answered by something else than a Host"),
        ("/chat", "/chat", "/chat/healthz answers with status 404"),
        ("", "/chat", "/chat/healthz answers with status 404"),
    ],
)
def test_a_public_address_of_another_program_is_warned_about(
    tmp_path: Path, path: str, base_path: str, expected: str
) -> None:
    with another_server(tmp_path / "other") as address:
        settings = {"PARLOUR__HTTP__PUBLIC_URL": f"{address}{path}", "PARLOUR__HTTP__BASE_PATH": base_path}
        host = Host(tmp_path, **settings).start()
        try:
            finished = parlour_here("doctor", "--data", host.data, environment=settings)
        finally:
            host.close()

    [line] = [line for line in joined(finished.stdout) if line.startswith("warning  proxy") and "/healthz" in line]
    assert expected in line
    assert "check the proxy" in line


@contextmanager
def another_server(folder: Path) -> Iterator[str]:
    """Serves a /healthz of its own and yields its address."""
    folder.mkdir()
    (folder / "healthz").write_text('{"status": "up"}')

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def joined(output: str) -> list[str]:
    """Joins each finding with its remedy on one line."""
    return output.replace("\n" + " " * 22 + "->", " ->").splitlines()


def test_a_key_file_that_other_users_can_read_is_a_warning(data: Path) -> None:
    open_key(data)

    output = parlour_here("doctor", "--data", data, "--port", 0).stdout

    assert "secret.key can be read by others" in output
    assert "chmod 600" in output


def test_plugins_without_a_sandbox_are_warned_about(data: Path) -> None:
    settings = {"PARLOUR__PLUGINS__SANDBOX": "auto", "PARLOUR__PLUGINS__BUBBLEWRAP": "/no/such/bwrap"}
    finished = parlour_here("doctor", "--data", data, "--port", 0, environment=settings)

    [line] = [line for line in joined(finished.stdout) if line[9:].startswith("sandbox")]
    assert finished.returncode == 0
    assert line.startswith("warning")
    assert "Plugins run without a sandbox: the setting plugins.bubblewrap names '/no/such/bwrap'" in line
    assert "-> correct it" in line


def test_the_system_call_filter_around_plugins_is_named(data: Path) -> None:
    [line] = [
        line for line in parlour_here("doctor", "--data", data, "--port", 0).stdout.splitlines() if " sandbox " in line
    ]

    assert line.startswith("ok")
    assert "system call filter (seccomp)" in line


def test_the_states_of_the_bots_of_a_running_host_are_reported(tmp_path: Path) -> None:
    host = Host(tmp_path).start()
    try:
        with port_in_use() as port, host.http() as http:
            for name, number in (("Ann", port), ("Bob", free_port())):
                config = {"mode": "reverse", "port": number, "access_token": "held"}
                bot = {"name": name, "adapter": "onebot11", "adapter_config": config}
                assert http.post("/bots", json=bot).is_success
            findings = eventually(lambda: _bot_findings(host), "both bots are reported")

        assert [line for line in findings if line.startswith("problem") and "'Ann'" in line and f"port {port}" in line]
        assert [line for line in findings if line.startswith("warning") and "'Bob'" in line and "no OneBot" in line]
    finally:
        host.close()


def _bot_findings(host: Host) -> list[str] | None:
    lines = [line for line in parlour_here("doctor", "--data", host.data).stdout.splitlines() if " bot '" in line]
    return lines if len(lines) == 2 and not any(line.startswith("ok") for line in lines) else None
