"""Tests the answers of the command line to wrong usage: one sentence, no traceback, no effect."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import PARLOUR, parlour, parlour_here, refusal
from tests.support.harness import Host


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["dance"], "dance"),
        (["keys", "paint"], "paint"),
        (["serve", "--colour", "red"], "--colour"),
        (["serve", "--port", "many"], "--port"),
        (["keys", "create"], "--name"),
        (["keys", "create", "--name", "n", "--scope", "king"], "king"),
        (["plugin", "install"], "SOURCE"),
    ],
)
def test_a_wrong_command_line_is_refused_with_the_wrong_part(arguments: list[str], names: str) -> None:
    finished = parlour_here(*arguments)

    assert finished.returncode == 2
    assert names in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("PARLOUR__HTTP__PORT", "abc", "http.port"),
        ("PARLOUR__HTTP__PORT", "70000", "http.port"),
        ("PARLOUR__HTTP__COLOUR", "red", "http.colour"),
        ("PARLOUR__KITCHEN__SINK", "1", "kitchen"),
        ("PARLOUR__HTTP", "5300", "http"),
        ("PARLOUR__RUNS__CONCURRENT", "0", "runs.concurrent"),
        ("PARLOUR__TELEMETRY__ENDPOINT", "http://127.0.0.1:99999", "telemetry.endpoint"),
        ("PARLOUR__TELEMETRY__ENDPOINT", "http://[::1", "telemetry.endpoint"),
        ("PARLOUR__TELEMETRY__ENDPOINT", "http://:4318", "telemetry.endpoint"),
    ],
)
def test_a_bad_setting_in_the_environment_is_named_in_one_sentence(
    tmp_path: Path, name: str, value: str, key: str
) -> None:
    data = tmp_path / "data"

    assert key in refusal("keys", "list", "--data", data, environment={name: value})
    assert not data.exists()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("http: {port: [1]}", "http.port"),
        ("http: 5300", "http"),
        ("- a list", "settings by name"),
        ("http: {port: 1", "not YAML"),
        ("\tx: 1", "not YAML"),
    ],
)
def test_a_bad_settings_file_is_refused_in_one_sentence(tmp_path: Path, content: str, named: str) -> None:
    assert named in refusal("keys", "list", "--config", config(tmp_path, content), "--data", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_missing_settings_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    absent = tmp_path / "absent.yaml"

    assert str(absent) in refusal("keys", "list", "--config", absent, "--data", tmp_path / "data")


def config(folder: Path, content: str) -> Path:
    file = folder / "settings.yaml"
    file.write_text(content)
    return file


def test_without_a_command_the_host_runs_with_its_data_in_the_users_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PARLOUR__PLUGINS__BUNDLED": "false"}
    environment.pop("XDG_DATA_HOME", None)
    started = subprocess.Popen(
        [PARLOUR, "--port", "0"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert started.stdout
        printed = [started.stdout.readline().decode() for _ in range(3)]
    finally:
        started.terminate()
        started.wait(timeout=20)

    data = tmp_path / ".local" / "share" / "parlour"
    assert printed[0].startswith("Parlour is at http://127.0.0.1:")
    assert printed[2] == f"its data: {data}\n"
    assert (data / "parlour.db").exists()


def test_a_closed_output_pipe_causes_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [PARLOUR, "keys", "create", "--name", "n", "--data", tmp_path]
    with open(writing, "wb") as closed:
        finished = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, timeout=60)

    assert finished.returncode == 141
    assert finished.stderr == ""


def test_the_module_prints_the_same_refusal_as_the_command(tmp_path: Path) -> None:
    words = ("plugin", "remove", "nobody/nothing", "--data", str(tmp_path / "data"))
    module = subprocess.run(
        [sys.executable, "-m", "parlour.cli.main", *words], capture_output=True, text=True, timeout=60
    )
    command = parlour(*words)
    assert (module.returncode, module.stderr) == (command.returncode, command.stderr)
    assert module.stderr.startswith("parlour: ")


def test_an_ipv6_address_is_printed_with_brackets(tmp_path: Path) -> None:
    host = Host(tmp_path, PARLOUR__HTTP__HOST="::1")
    try:
        host.start()
        assert host.address.startswith("http://[::1]:")
    finally:
        host.close()
