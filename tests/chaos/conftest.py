"""One Host with the chaos agent and, beside it, the echo agent. Nothing is tried where there is no sandbox."""

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.harness import ECHO_PLUGIN, Host

from .chaos import CHAOS_PLUGIN, QUICKLY, Chaos


@pytest.fixture(scope="session")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    host = Host(tmp_path_factory.mktemp("chaos"), **QUICKLY)
    host.install(ECHO_PLUGIN)
    host.install(CHAOS_PLUGIN)
    host.start()
    try:
        yield Chaos(host)
    finally:
        host.close()


@pytest.fixture
def measuring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One measurement at a time, also where tests run side by side."""
    with _shared(tmp_path_factory).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith("popen-") else base) / "measuring"
