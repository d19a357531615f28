"""One Host with the chaos agent and, beside it, the echo agent. Nothing is tried where there is no sandbox."""

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.harness import Host

from .chaos import QUICKLY, Chaos, chaos_in


@pytest.fixture(scope="session")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    with chaos_in(Host(tmp_path_factory.mktemp("chaos"), **QUICKLY)) as chaos:
        yield chaos


@pytest.fixture
def measuring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One measurement at a time, also where tests run side by side."""
    with _shared(tmp_path_factory).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith("popen-") else base) / "measuring"
