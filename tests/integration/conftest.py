"""Hosts that tests share. A test that stops, kills or starves its Host makes one of its own with `make_host`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .harness import ECHO_PLUGIN, PUPPET_PLUGIN, Host

MakeHost = Callable[..., Host]


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One Host with the echo and the puppet plugin for all tests that only talk to it."""
    host = Host(tmp_path_factory.mktemp("host"))
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture
def make_host(tmp_path: Path) -> Iterator[MakeHost]:
    """Hosts with settings and plugins of their own, closed after the test. They are not started."""
    made: list[Host] = []

    def make(*plugins: Path, **environment: object) -> Host:
        folder = tmp_path / f"host{len(made)}"
        folder.mkdir()
        made.append(Host(folder, **environment))
        for plugin in plugins:
            made[-1].install(plugin)
        return made[-1]

    yield make
    for host in made:
        host.close()


@pytest.fixture
def gate_file(tmp_path: Path) -> Path:
    """A run told `gate <this>` ends when a test touches it."""
    return tmp_path / "gate"
