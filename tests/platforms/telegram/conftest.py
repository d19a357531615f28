"""Provides bots on Telegram, on the Host that all tests of a process share."""

from pathlib import Path

import pytest

from tests.support.harness import ROOT, Host

from .tg import Telegram

ACTING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "acting_agent.py"
WRITING_PLUGIN = Path(__file__).with_name("writing_agent.py")
WRITING = "plugin:test/writing-agent/default"
ACTING = "plugin:test/acting-agent/default"


@pytest.fixture(scope="session")
def tg(platform_host: Host) -> Telegram:
    return Telegram(platform_host)
