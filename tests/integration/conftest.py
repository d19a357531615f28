"""Provides Hosts that tests share. A test that stops, kills or starves its Host makes one of its
own with `make_host`.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.harness import ECHO_PLUGIN, PUPPET_PLUGIN, Host
from tests.support.standalone import StandaloneHost

MakeHost = Callable[..., Host]
HostType = type[Host]
SharedHosts = Callable[[HostType], Host]

SHARED = {
    "PARLOUR__PLUGINS__DRAIN_SECONDS": 1,
    "PARLOUR__PLUGINS__LONGEST_RESTART_SECONDS": 1,
    "PARLOUR__PLUGINS__GIVE_UP_AFTER": 1000,
}
"""These limits bring a shared Host's plugin back soon, however many tests kill it."""


def pytest_configure(config: pytest.Config) -> None:
    marker = "both_runtimes: runs with plugins beside the Host and, as a long test, in a standalone runtime"
    config.addinivalue_line("markers", marker)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Adds the standalone runtime, as long tests: `test_standalone_runtime.py` has short ones."""
    marker = metafunc.definition.get_closest_marker("both_runtimes")
    if "host_type" not in metafunc.fixturenames or marker is None:
        return
    standalone = pytest.param(StandaloneHost, id="standalone", marks=pytest.mark.long)
    types = [pytest.param(Host, id="embedded"), standalone]
    metafunc.parametrize("host_type", types, indirect=True, scope="session")


@pytest.fixture(scope="session")
def host_type(request: pytest.FixtureRequest) -> HostType:
    return getattr(request, "param", Host)


@pytest.fixture(scope="session")
def shared_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedHosts]:
    """Starts each kind of Host when a test first asks for it. It keeps running while tests of the other kind run."""
    made: dict[HostType, Host] = {}

    def shared(host_type: HostType) -> Host:
        if host_type not in made:
            host = made[host_type] = host_type(tmp_path_factory.mktemp("host"), **SHARED)
            closing.callback(host.close)
            host.install(ECHO_PLUGIN)
            host.install(PUPPET_PLUGIN)
            host.start()
        return made[host_type]

    with ExitStack() as closing:
        yield shared


@pytest.fixture(scope="session")
def host(shared_hosts: SharedHosts, host_type: HostType) -> Host:
    """Provides one Host with the echo and the puppet plugin for all tests that only send requests to it."""
    return shared_hosts(host_type)


@pytest.fixture
def make_host(tmp_path: Path, host_type: HostType) -> Iterator[MakeHost]:
    """Makes Hosts with settings and plugins of their own and closes them after the test. They are not started."""
    made: list[Host] = []

    def make(*plugins: Path, **environment: object) -> Host:
        folder = tmp_path / f"host{len(made)}"
        folder.mkdir()
        made.append(host_type(folder, **environment))
        for plugin in plugins:
            made[-1].install(plugin)
        return made[-1]

    yield make
    for host in made:
        host.close()


@pytest.fixture
def gate_file(host: Host, tmp_path: Path) -> Path:
    """Returns a file; a run that received `gate <this file>` ends when a test touches it."""
    return host.shared_file(f"{tmp_path.name}.gate")
