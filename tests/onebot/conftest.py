"""Provides one Host with the echo agent and the probe for all tests of a process; each test has bots of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import parlour.testing
from tests.integration.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, ROOT, Host

from .qq import QQ

PROBE_PLUGIN = Path(parlour.testing.__file__).with_name("probe_plugin.py")
TOOLBOX_PLUGIN = ROOT / "tests" / "plugins" / "toolbox.py"


@pytest.fixture(scope="session")
def qq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QQ]:
    host = Host(tmp_path_factory.mktemp("platform host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.install(PROBE_PLUGIN)
    host.install(TOOLBOX_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


@pytest.fixture(scope="session")
def echo(qq: QQ) -> str:
    return qq.host.agent(ECHO, "echo")
