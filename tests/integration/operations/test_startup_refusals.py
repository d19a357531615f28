"""Tests that a Host that can't start prints the reason in one sentence and ends, without effects elsewhere."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import parlour_here, refusal
from tests.support.harness import Host, texts


def serve(data: Path, port: int = 0) -> str:
    """Returns the sentence with which the Host refuses to start."""
    return refusal("serve", "--data", data, "--port", port)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Opens a connection to the database of a data directory that was used before."""
    assert parlour_here("keys", "create", "--name", "n", "--data", tmp_path).returncode == 0
    connection = sqlite3.connect(tmp_path / "parlour.db", isolation_level=None)
    yield connection
    connection.close()


def test_a_second_host_on_the_same_data_ends_at_once_and_the_first_goes_on(host: Host) -> None:
    sentence = serve(host.data)

    assert "already served" in sentence
    assert str(host.process.pid) in sentence
    assert texts(host.ask(host.agent(), "still there?")) == ["still there?"]


def test_a_port_in_use_is_named(host: Host, tmp_path: Path) -> None:
    port = int(host.address.rpartition(":")[2])

    assert f":{port}" in serve(tmp_path / "data", port)

    assert not (tmp_path / "data").exists()
    assert texts(host.ask(host.agent(), "still there?")) == ["still there?"]


def test_an_address_of_another_machine_is_named(tmp_path: Path) -> None:
    assert "192.0.2.1" in refusal("serve", "--data", tmp_path / "data", "--host", "192.0.2.1", "--port", "0")


def test_a_host_name_that_does_not_exist_is_named(tmp_path: Path) -> None:
    sentence = refusal("serve", "--data", tmp_path / "data", "--host", "no-such-host.invalid", "--port", "0")

    assert "no-such-host.invalid" in sentence


def test_a_data_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")

    assert str(file) in serve(file)

    assert file.read_text() == "mine"


def test_a_database_of_a_newer_parlour_is_left_alone(database: sqlite3.Connection, tmp_path: Path) -> None:
    database.execute("UPDATE alembic_version SET version_num = '9999'")

    sentence = serve(tmp_path)

    assert "newer" in sentence
    assert "9999" in sentence


def test_a_file_that_is_not_a_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "parlour.db"
    file.write_bytes(b"a shopping list, not a database\n" * 100)
    before = file.read_bytes()

    assert "no database" in serve(tmp_path)

    assert file.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "parlour.db") as other:
        other.execute("CREATE TABLE recipes (name)")

    assert "another program" in serve(tmp_path)


def test_a_database_that_another_program_has_locked_is_named(database: sqlite3.Connection, tmp_path: Path) -> None:
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")

    assert "locked by another program" in serve(tmp_path)


@pytest.mark.parametrize("command", [["keys", "list"], ["keys", "create", "--name", "n"]])
def test_other_commands_refuse_an_unusable_database_with_the_same_message(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "parlour.db").write_bytes(b"a shopping list, not a database\n" * 100)

    assert "no database" in refusal(*command, "--data", tmp_path)


@pytest.mark.parametrize(("content", "expected"), [(b"", "is empty"), (b"half", "has 4 bytes, not 32")])
def test_an_invalid_key_file_is_named_before_it_is_used(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "secret.key").write_bytes(content)

    sentence = serve(tmp_path / "data")

    assert f"secret.key' {expected}" in sentence
    assert "put it back from a backup" in sentence
    assert (tmp_path / "data" / "secret.key").read_bytes() == content


def test_an_empty_file_of_a_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "url").touch()
    environment = {"PARLOUR__DATABASE__URL_FILE": str(tmp_path / "url")}

    sentence = refusal("serve", "--data", tmp_path / "data", environment=environment)

    assert "PARLOUR__DATABASE__URL_FILE" in sentence
    assert "is empty" in sentence
