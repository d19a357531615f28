"""Provides a Host with the plugin of coding agents, and agents that use a scripted one."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import ROOT, Host
from tests.support.rogue import QUICK

ACP_PLUGIN = ROOT / "plugins" / "acp-agent"
ACP_ID = "parlour/acp-agent"
ACP = f"plugin:{ACP_ID}/default"
SCRIPT = (ROOT / "tests" / "fixtures" / "acp" / "scripted_agent.py").read_text(encoding="utf-8")

MakeAgent = Callable[..., str]


def open_host(folder: Path, *grants: str, **settings: object) -> Host:
    own = {"PARLOUR__PROGRAMS__FOLDERS": str(Path(sys.executable).parent)}
    host = Host(folder, **{**QUICK, **own, **settings})
    host.install(ACP_PLUGIN, "--grant", ",".join(grants or ("processes:other",)))
    return host


def scripted_config(**config: Any) -> dict[str, Any]:
    return {
        "harness": "other",
        "command": "python",
        "arguments": ["-c", SCRIPT],
        "mode": "default",
        "secret_environment": '{"TOKEN": "hidden-token"}',
        **config,
    }


@pytest.fixture(scope="session")
def acp_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = open_host(tmp_path_factory.mktemp("acp")).start()
    yield host
    host.close()


@pytest.fixture
def scripted(acp_host: Host) -> MakeAgent:
    """Creates agents that use the scripted harness."""

    def create(host: Host = acp_host, approval_policy: Any = None, **config: Any) -> str:
        rule = approval_policy or {"decision": "ask", "who": {"requester": True}}
        policy = {"harness.permission": rule}
        return host.agent(ACP, runner_config=scripted_config(**config), approval_policy=policy, restart_policy="never")

    return create
