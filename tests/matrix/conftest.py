"""Provides one Synapse and one Host for all tests of a process; each test has bots and users of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import parlour.testing
from parlour.testing.synapse_server import SynapseServer
from tests.integration.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, PUPPET, PUPPET_PLUGIN, ROOT, Host

from .rig import Home
from .world import World

PROBE_PLUGIN = Path(parlour.testing.__file__).with_name("probe_plugin.py")
PYTHON = ROOT / ".tools" / "synapse" / "bin" / "python"


@pytest.fixture(scope="session")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SynapseServer]:
    assert PYTHON.exists(), "Synapse is not installed; run: make synapse"
    server = SynapseServer(tmp_path_factory.mktemp("a homeserver"), PYTHON)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def home(synapse: SynapseServer) -> Home:
    return Home(synapse)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, synapse: SynapseServer) -> Iterator[World]:
    host = Host(tmp_path_factory.mktemp("matrix host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, PROBE_PLUGIN, PUPPET_PLUGIN):
        host.install(plugin)
    host.start()
    yield World(host, synapse)
    host.close()


@pytest.fixture(scope="session")
def echo(world: World) -> str:
    return world.host.agent(ECHO, "echo")


@pytest.fixture(scope="session")
def puppet(world: World) -> str:
    return world.host.agent(PUPPET, "puppet")
