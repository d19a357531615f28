"""Provides one Host with the agents and the probe for all tests of a process; each test has its own
Telegram and bot.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import parlour.testing
from tests.integration.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, ROOT, Host

from .tg import Telegram

PROBE_PLUGIN = Path(parlour.testing.__file__).with_name("probe_plugin.py")
ACTING_PLUGIN = ROOT / "tests" / "plugins" / "acting_agent.py"
WRITING_PLUGIN = Path(__file__).with_name("writing_agent.py")
WRITING = "plugin:test/writing-agent/default"
ACTING = "plugin:test/acting-agent/default"


@pytest.fixture(scope="session")
def tg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Telegram]:
    host = Host(tmp_path_factory.mktemp("telegram host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, PROBE_PLUGIN, ACTING_PLUGIN, WRITING_PLUGIN):
        host.install(plugin)
    host.start()
    yield Telegram(host)
    host.close()


@pytest.fixture(scope="session")
def echo(tg: Telegram) -> str:
    return tg.host.agent(ECHO, "echo")
