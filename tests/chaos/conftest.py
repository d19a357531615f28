"""Provides one Host with the chaos agent and the echo agent. The tests are skipped if there is no sandbox."""

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.harness import Host

from .chaos import QUICK_RECOVERY, Chaos, chaos_in


@pytest.fixture(scope="session")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    with chaos_in(Host(tmp_path_factory.mktemp("chaos"), **QUICK_RECOVERY)) as chaos:
        yield chaos


@pytest.fixture
def measuring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Allows one measurement at a time, also when tests run in parallel."""
    with _shared(tmp_path_factory).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith("popen-") else base) / "measuring"
