"""Real coding agents, from the packages that `make harnesses` installs, with a scripted model instead of a service."""

import itertools
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harnesses.conftest import ACP, ACP_ID, open_host
from tests.integration.harnesses.test_gateway import list_tools
from tests.integration.harnesses.test_scripted_harness import decide
from tests.support.harness import ROOT, Host, Json, eventually
from tests.support.harness_model.server import HarnessModel
from tests.support.processes import find_in_memory, processes_naming
from tests.support.rogue import sleepers

PACKAGES = ROOT / ".tools" / "harnesses" / "node_modules"
OTHERS = ROOT / ".tools" / "more-harnesses" / "node_modules"
MODEL_PATHS = {"codex": "/v1", "kimi": "/v1", "qwen": "/v1", "opencode": "/v1"}
"""The part of the model's address that is configured for a coding agent beyond host and port."""
FOLDERS = [
    *PACKAGES.glob("node-linux-*/bin"),
    PACKAGES / ".bin",
    *PACKAGES.glob("@aaif/goose-binary-*/bin"),
    *OTHERS.glob("opencode-linux-*/bin"),
    OTHERS / ".bin",
]
TURN_SECONDS = 240
"""Most seconds for one turn. OpenCode needs 30 on two cores that have nothing else to do."""
SLOW = pytest.mark.timeout(900)
"""A test has several turns."""
GATEWAY_TOKEN = re.compile(rb"pgw_[\w-]{43}(?![\w-])")
_numbers = itertools.count(1)


def open_real_host(folder: Path, *names: str) -> Host:
    assert PACKAGES.exists(), "the coding agents are not installed: make harnesses"
    work = folder / "work"
    work.mkdir()
    grants = [f"processes:{name}" for name in names]
    return open_host(
        folder,
        *grants,
        PARLOUR__PROGRAMS__FOLDERS=",".join(map(str, FOLDERS)),
        PARLOUR__PROGRAMS__WORKSPACE_FOLDERS=str(work),
    ).start()


class RealHarness:
    """One coding agent on a Host."""

    def __init__(self, host: Host, name: str, model: HarnessModel, work: Path) -> None:
        self.host = host
        self.name = name
        self._model = model
        self._work = work

    def agent(self, approval_policy: Any = None, **config: Any) -> tuple[str, Path]:
        """Creates an agent with a folder of its own; returns its id and the folder."""
        folder = self._work / f"{self.name}-{next(_numbers)}"
        folder.mkdir()
        wanted = {
            "harness": self.name,
            "base_url": f"{self._model.address}{MODEL_PATHS.get(self.name, '')}",
            "api_key": "sk-scripted",
            "model": "scripted-model",
            "workspace": str(folder),
            "start_seconds": 120,
            **config,
        }
        rule = approval_policy or {"decision": "ask", "who": {"requester": True}}
        policy = {"harness.permission": rule}
        agent = self.host.agent(ACP, runner_config=wanted, approval_policy=policy, restart_policy="never")
        return agent, folder

    def send(self, agent_id: str, text: str) -> None:
        """Says something in the conversation that has the agent's folder."""
        self.host.send(agent_id, text, conversation_id="one")

    def question(self, agent_id: str) -> Json:
        """Returns the open question of an agent."""

        def look() -> Json | None:
            pending = self.host.items("/approvals", status="pending")
            return next((each for each in pending if each["agent_id"] == agent_id), None)

        return eventually(look, f"a question is open; {self.state(agent_id)}", TURN_SECONDS)

    def ended(self, run_id: str) -> Json:
        """Returns a run that has ended."""

        def look() -> Json | None:
            run = self.host.run(run_id)
            return run if run["status"] in ("completed", "failed", "cancelled", "timeout") else None

        return eventually(look, "the run has ended", TURN_SECONDS)

    def said(self, agent_id: str, text: str) -> str:
        """Says something in the conversation that has the agent's folder, and returns the answer."""
        before = len(self.host.items("/runs", agent_id=agent_id))
        self.send(agent_id, text)

        def look() -> str:
            runs = self.host.items("/runs", agent_id=agent_id)
            return str(runs[0]["run_id"]) if len(runs) > before else ""

        run = self.ended(eventually(look, "a run has begun"))
        assert run["status"] == "completed", run["error"]
        messages = self.host.transcript(run["conversation_id"])
        return [text for role, text in messages if role == "assistant"][-1].strip()

    def state(self, agent_id: str) -> str:
        return str([(each["status"], each.get("error")) for each in self.host.items("/runs", agent_id=agent_id)])

    def begin_command(self, agent_id: str, marker: Path) -> None:
        """Lets the agent run a command that does not end, and returns when it runs."""
        self.send(agent_id, f"script:run {marker}")
        decided: set[str] = set()

        def look() -> bool:
            for each in self.host.items("/approvals", status="pending"):
                if each["agent_id"] == agent_id and each["approval_id"] not in decided:
                    decided.add(each["approval_id"])
                    decide(self.host, each, "approve")
            return bool(sleepers(str(marker)))

        eventually(look, f"the command runs; {self.state(agent_id)}", TURN_SECONDS)


class RealHarnessContract:
    """Every coding agent passes these tests. Subclasses provide the fixture `harness`."""

    def test_it_asks_before_it_writes_and_a_refusal_writes_nothing(self, harness: RealHarness) -> None:
        agent, folder = harness.agent()
        harness.send(agent, f"script:write {folder}/a.txt")
        question = harness.question(agent)
        assert not (folder / "a.txt").exists()
        assert "a.txt" in str(question["call"])
        decide(harness.host, question, "approve")
        eventually(lambda: (folder / "a.txt").exists(), f"the file is written; {harness.state(agent)}", TURN_SECONDS)
        run_id = str(harness.host.items("/runs", agent_id=agent)[0]["run_id"])
        assert harness.ended(run_id)["status"] == "completed"
        assert (folder / "a.txt").read_text() == "written"

        agent, folder = harness.agent()
        harness.send(agent, f"script:write {folder}/b.txt")
        decide(harness.host, harness.question(agent), "deny")
        run_id = str(harness.host.items("/runs", agent_id=agent)[0]["run_id"])
        harness.ended(run_id)
        assert not (folder / "b.txt").exists()

    def test_cancelling_ends_an_open_question(self, harness: RealHarness) -> None:
        agent, folder = harness.agent(cancel_seconds=5)
        harness.send(agent, f"script:write {folder}/c.txt")
        question = harness.question(agent)

        run_id = harness.host.active_run(agent)
        harness.host.http().post(f"/runs/{run_id}/cancel").raise_for_status()

        assert harness.ended(run_id)["status"] == "cancelled"
        assert not (folder / "c.txt").exists()
        address = f"/approvals/{question['approval_id']}"
        eventually(lambda: harness.host.http().get(address).json()["status"] != "pending", "it is withdrawn")
        assert harness.host.http().get(address).json()["status"] == "expired"
        assert harness.said(agent, "script:count again").startswith("orders seen")

    def test_cancelling_a_command_leaves_no_process(self, harness: RealHarness) -> None:
        agent, folder = harness.agent(cancel_seconds=5)
        marker = folder / f"run-{os.getpid()}"
        harness.begin_command(agent, marker)

        harness.host.http().post(f"/runs/{harness.host.active_run(agent)}/cancel").raise_for_status()

        eventually(lambda: not processes_naming(str(marker)), "nothing of the command is left", TURN_SECONDS)

    def test_a_new_process_continues_the_session(self, harness: RealHarness) -> None:
        agent, _ = harness.agent(idle_seconds=0)

        answers = [harness.said(agent, f"script:count {word}") for word in ("one", "two")]

        assert answers == ["orders seen: 1", "orders seen: 2"]

    def test_it_reads_the_chat_by_the_gateway(self, harness: RealHarness) -> None:
        agent, _ = harness.agent(use_host=True)
        harness.said(agent, "script:count first")

        answer = harness.said(agent, "script:history")

        assert "script:count first" in answer, answer
        entries = [each for each in harness.host.items("/audit") if each["action"] == "history_page"]
        assert {"via": "gateway"} in [each["detail"] for each in entries]

    def test_its_token_for_the_gateway_ends_with_its_run(self, harness: RealHarness) -> None:
        agent, folder = harness.agent(use_host=True)
        harness.said(agent, "script:count first")
        tokens = find_in_memory(folder, GATEWAY_TOKEN)
        assert tokens, "the coding agent still has its token"

        def answers() -> set[str]:
            address = f"{harness.host.address}/gateway/mcp"
            given = [list_tools(address, {"authorization": f"Bearer {each}"}) for each in tokens]
            return {"listed" if each.status_code == 200 else each.json()["error"]["message"] for each in given}

        assert answers() == {"no active run has this token"}
        harness.send(agent, f"script:write {folder}/a.txt")
        question = harness.question(agent)
        assert answers() == {"listed"}
        decide(harness.host, question, "deny")
        harness.ended(str(harness.host.items("/runs", agent_id=agent)[0]["run_id"]))
        assert answers() == {"no active run has this token"}

    @pytest.mark.parametrize("killed", ["plugin", "host"])
    def test_a_kill_leaves_no_process(self, own_harness: RealHarness, killed: str) -> None:
        agent, folder = own_harness.agent()
        marker = folder / f"killed-{killed}-{os.getpid()}"
        own_harness.begin_command(agent, marker)

        if killed == "plugin":
            own_harness.host.plugin_process(ACP_ID).kill()
        else:
            own_harness.host.kill()
            own_harness.host.start()

        eventually(lambda: not processes_naming(str(folder)), "nothing of the coding agent is left", TURN_SECONDS)
