"""Provides a group in which an agent requests actions, and the Host's records of them."""

import json
from pathlib import Path
from typing import Any

from parlour.testing.onebot_simulator import Simulator, native
from tests.support.harness import ROOT, Json

from .qq import QQ, eventually

ACTING_PLUGIN: Path = ROOT / "tests" / "fixtures" / "plugins" / "acting_agent.py"
ACTING = "plugin:test/acting-agent/default"
ANN, BOSS, EVE = 1, 2, 3
GROUP = 7
ASK = {"decision": "ask", "who": {"users": [str(BOSS)], "roles": []}}


async def runner_is_there(qq: QQ) -> None:
    def there() -> bool:
        return any(each["id"] == ACTING for each in qq.host.http().get("/runners").json()["items"])

    await eventually(there, "the acting agent has started")


async def agent(qq: QQ, policy: Json, **fields: Any) -> str:
    await runner_is_there(qq)
    return qq.host.agent(ACTING, "acting", approval_policy=policy, **fields)


async def mention_bot(simulator: Simulator, text: str, user: int = ANN) -> None:
    at = native.segment("at", qq=str(simulator.self_id))
    await simulator.say([at, native.text(f" {text}")], user, group_id=GROUP)


def about_eve(*actions: str, wait: float = 0) -> str:
    return json.dumps([[action, {"user_id": str(EVE)}, None, wait] for action in actions])


def kick(wait: float = 0) -> str:
    return about_eve("member.kick", wait=wait)


def pending(qq: QQ) -> Json:
    found = qq.host.items("/approvals", status="pending")
    return found[0] if found else {}


def kicks(simulator: Simulator) -> list[Json]:
    return [each["params"] for each in simulator.requests if each["action"] == "set_group_kick"]


def decisions(qq: QQ, run_id: str) -> list[Json]:
    """Returns the decisions in the ledger of a run, in order."""
    decided = [each for each in qq.host.items(f"/runs/{run_id}/events") if each["type"] == "approval.decided"]
    assert {each["source"] for each in decided} <= {"host"}
    return [each["data"] for each in decided]
