"""Provides one Host for all platforms of a test process; each test has bots of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("parlour.testing.adapter_suite")

import parlour.testing  # noqa: E402
from parlour.testing.synapse_server import SynapseServer  # noqa: E402
from tests.platforms.matrix.home import Home  # noqa: E402
from tests.support.harness import (  # noqa: E402
    ECHO,
    ECHO_PLUGIN,
    NO_RUN_LIMITS,
    PUPPET_PLUGIN,
    ROOT,
    Host,
)

SYNAPSE = ROOT / ".tools" / "synapse" / "bin" / "python"
FIXTURES = ROOT / "tests" / "fixtures" / "plugins"
PLUGINS = (
    ECHO_PLUGIN,
    Path(parlour.testing.__file__).with_name("probe_plugin.py"),
    FIXTURES / "toolbox.py",
    FIXTURES / "acting_agent.py",
    PUPPET_PLUGIN,
    Path(__file__).with_name("telegram") / "writing_agent.py",
)


@pytest.fixture(scope="session")
def platform_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("platform host"), **NO_RUN_LIMITS)
    for plugin in PLUGINS:
        host.install(plugin)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="session")
def echo(platform_host: Host) -> str:
    return platform_host.agent(ECHO, "echo")


@pytest.fixture(scope="session")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SynapseServer]:
    assert SYNAPSE.exists(), "Synapse is not installed; run: make synapse"
    server = SynapseServer(tmp_path_factory.mktemp("a homeserver"), SYNAPSE)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def home(synapse: SynapseServer) -> Home:
    return Home(synapse)
