"""Provides bots on Matrix, on the Host and the Synapse that all tests of a process share."""

import pytest

from parlour.testing.synapse_server import SynapseServer
from tests.support.harness import PUPPET, Host

from .world import World


@pytest.fixture(scope="session")
def world(platform_host: Host, synapse: SynapseServer) -> World:
    return World(platform_host, synapse)


@pytest.fixture(scope="session")
def puppet(platform_host: Host) -> str:
    return platform_host.agent(PUPPET, "puppet")
