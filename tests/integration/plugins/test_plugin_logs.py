"""Tests the log of a plugin: a file of bounded size, written at once and with time stamps."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import HostType
from tests.support.harness import Host, eventually, texts
from tests.support.rogue import ROGUE, ROGUE_ID, ROGUE_PLUGIN

pytestmark = pytest.mark.both_runtimes
SMALL = {"PARLOUR__PLUGINS__LOG_BYTES": "100000", "PARLOUR__PLUGINS__LOG_FILES": "3"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    host = host_type(tmp_path_factory.mktemp("shouted at"), **SMALL)
    host.install(ROGUE_PLUGIN)
    host.start()
    yield host
    host.close()


def log_files(host: Host) -> list[Path]:
    return sorted((host.home / "logs" / "plugins").glob(f"{ROGUE_ID}.log*"))


def test_printed_output_of_a_plugin_is_in_its_log_at_once_with_the_time(host: Host) -> None:
    assert texts(host.ask(host.agent(ROGUE), "shout 2")) == ["hoarse"]

    [file] = eventually(lambda: log_files(host), "there is a log")
    eventually(lambda: "shouted enough" in file.read_text(), "all was written")
    lines = [line for line in file.read_text().splitlines() if "shouted" in line]
    assert [line.partition(" ")[2] for line in lines] == ["shouted 0", "shouted 1", "shouted enough"]
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", line) for line in lines)


def test_the_log_of_a_plugin_that_prints_without_end_stays_bounded(host: Host) -> None:
    agent = host.agent(ROGUE)

    assert texts(host.ask(agent, "shout 400000")) == ["hoarse"]

    assert texts(host.ask(agent, "say still there")) == ["still there"]
    eventually(lambda: len(log_files(host)) == 3, "the log was renewed")
    assert sum(file.stat().st_size for file in log_files(host)) < 3 * 100_000 + 3 * 1024 * 1024
    assert "lines were dropped" in "".join(file.read_text() for file in log_files(host))
