"""A group chat on the fake platform whose agent requests actions."""

import asyncio
from typing import Any

from parlour.core.approvals.decisions import Decider
from parlour.core.journal import Row, Select, Table
from parlour.core.model.event import Participant
from parlour.core.store.tables import APPROVALS, AUDIT, EVENTS, RUN_EVENTS
from parlour_sdk.protocol.people import User

from ..delivery.platform_support import PlatformWorld, chat_manifest
from ..support import DISCOVERY, PLUGIN, PuppetRun, make_agent

ANN, BOSS, EVE = User(id="ann", nickname="Ann"), User(id="boss", nickname="Boss"), User(id="eve", nickname="Eve")
KICK = ("member.kick", {"user_id": "eve"})
OPERATOR = Decider(Participant("api_key", "k1", "Op"), operator=True)
ASK = {"decision": "ask", "who": {"users": ["boss"]}}


def discovery(*patterns: str) -> dict[str, Any]:
    manifest = {**DISCOVERY["manifest"]}  # type: ignore[dict-item]
    manifest["capabilities"] = {**manifest["capabilities"], "platform_actions": True}
    permissions = {"platform_actions": list(patterns), "agent_runs": ["create"]}
    return {**DISCOVERY, "manifest": {**manifest, "permissions": permissions}}


class Group:
    def __init__(self, world: PlatformWorld, patterns: tuple[str, ...]) -> None:
        self.world = world
        self.patterns = patterns

    @classmethod
    async def open(
        cls, policy: dict[str, Any], *patterns: str, buttons: bool = False, edits: bool = False, **agent: Any
    ) -> "Group":
        """Opens a group; `ports` override the core's, `declared` the adapter's manifest, the rest is for the agent."""
        ports: dict[str, Any] = agent.pop("ports", {})
        declared: dict[str, Any] = agent.pop("declared", {})
        patterns = patterns or ("*",)
        world = await PlatformWorld.open(
            chat_manifest(*([] if edits else ["edit_message"]), buttons=buttons, **declared),
            make_agent(approval_policy=policy, **agent),
            discovery=discovery(*patterns),
            **ports,
        )
        return cls(world, patterns)

    async def restart(self) -> "Group":
        return Group(await self.world.restart(discovery(*self.patterns)), self.patterns)

    async def say(self, text: str, user: User = ANN, chat_id: str = "7", **options: Any) -> None:
        await self.world.platform.say(text, chat_id, chat_type="group", user=user, **options)

    async def run(self, text: str = "please") -> PuppetRun:
        await self.say(text)
        return await self.world.plugins.next_run()

    async def ask(
        self,
        run: PuppetRun,
        action: str,
        target: dict[str, Any] | None = None,
        payload: dict[str, Any] | None = None,
        wait: float = 0,
    ) -> dict[str, Any]:
        request = {"run_id": run.run_id, "call_id": f"{run.run_id}:1", "action": action, "target": target}
        request |= {"payload": payload, "wait_seconds": wait}
        return await self.world.core.gate.call(PLUGIN, "platform_action", request)

    async def calm(self) -> None:
        """Waits for pending work; virtual time passes at once."""
        await asyncio.sleep(5)

    def rows(self, table: Table) -> list[Row]:
        return self.world.journal.database.read(Select(table))

    def approval(self) -> Row:
        [row] = self.rows(APPROVALS)
        return row

    @property
    def keyword(self) -> str:
        return str(self.approval()["keyword"])

    def done(self, api: str) -> list[dict[str, Any]]:
        """Returns the arguments of the calls of an API that reached the platform."""
        return [arguments for name, arguments in self.world.platform.calls if name == api]

    def texts(self, chat_id: str = "7") -> list[str]:
        return self.world.platform.texts(chat_id)

    def events(self, event_type: str) -> list[Row]:
        return [row for row in self.rows(EVENTS) if row["event_type"] == event_type]

    def ledger(self, type: str) -> list[Row]:
        return [row for row in self.rows(RUN_EVENTS) if row["type"] == type]

    def audited(self, action: str) -> list[Row]:
        return [row for row in self.rows(AUDIT) if row["action"] == action]


async def request_kick(policy: dict[str, object] | None = None, **agent: object) -> tuple[Group, PuppetRun]:
    """Opens a group whose run has requested to kick a member."""
    group = await Group.open({"*": ASK, **(policy or {})}, **agent)
    run = await group.run()
    outcome = await group.ask(run, *KICK)
    assert outcome["status"] == "pending"
    assert outcome["approval_id"] == group.approval()["approval_id"]
    return group, run
