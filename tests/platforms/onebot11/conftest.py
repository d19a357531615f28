"""Provides bots on QQ, on the Host that all tests of a process share."""

import pytest

from tests.support.harness import Host

from .qq import QQ


@pytest.fixture(scope="session")
def qq(platform_host: Host) -> QQ:
    return QQ(platform_host)
