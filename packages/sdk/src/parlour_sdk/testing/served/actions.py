"""Decides actions that a run requests on the platform, as the test says."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, Literal

from parlour_sdk.protocol.actions import ActionOutcome, RequestAction
from parlour_sdk.protocol.live_permissions import LIVE_PERMISSION, AskPermission, PermissionAnswer

from ...values import dataclass
from ..gate import Handler
from ..script import Failure
from ..sessions import Caller, Session

Decision = Literal["done", "pending", "denied"]
Approvals = Decision | Mapping[str, Decision] | Callable[[str, Any, Any], "Decision | ActionOutcome"]
"""One decision for all actions, decisions by name pattern, or a function of action, target and payload."""


@dataclass(frozen=True, slots=True)
class FakeAction:
    """A requested action and its outcome."""

    action: str
    target: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None
    status: Decision = "done"
    result: Any = field(default=None, compare=False)
    run_id: str = field(default="", compare=False, repr=False)


class Actions:
    def __init__(self, approvals: Approvals, new_id: Callable[[str], str]) -> None:
        self._approvals = approvals
        self._new_id = new_id
        self.requested: list[FakeAction] = []

    def handlers(self) -> dict[str, Handler]:
        return {"platform_action": self._request, "ask_permission": self._ask}

    def for_run(self, run_id: str) -> list[FakeAction]:
        return [each for each in self.requested if each.run_id == run_id]

    def decide(
        self, session: Session, action: str, target: dict[str, Any] | None, payload: dict[str, Any] | None
    ) -> ActionOutcome:
        outcome = self._outcome(action, target, payload)
        self.requested.append(FakeAction(action, target, payload, outcome.status, outcome.result, session.run_id))
        return outcome

    async def _request(self, caller: Caller, request: RequestAction) -> ActionOutcome:
        if not caller.grant.allows_action(request.action):
            raise Failure("unauthorized", f"the action '{request.action}' was not granted").exception()
        outcome = self.decide(caller.run, request.action, request.target, request.payload)
        if outcome.status == "pending" and request.wait_seconds:
            raise Failure("approval_pending", "nobody has decided in the time that was waited").exception()
        return outcome

    async def _ask(self, caller: Caller, request: AskPermission) -> AsyncGenerator[PermissionAnswer, None]:
        """Decides as for a platform action; `pending` stays unanswered until the question is withdrawn."""
        if not caller.grant.allows_action(LIVE_PERMISSION):
            raise Failure("unauthorized", f"the action '{LIVE_PERMISSION}' was not granted").exception()
        outcome = self.decide(caller.run, LIVE_PERMISSION, None, request.model_dump(include={"title", "details"}))
        yield PermissionAnswer(status="pending", approval_id=outcome.approval_id or "approval")
        if outcome.status == "pending":
            await asyncio.Event().wait()
        yield PermissionAnswer(status="approved" if outcome.status == "done" else "denied")

    def _outcome(self, action: str, target: Any, payload: Any) -> ActionOutcome:
        decision: Any = self._approvals
        if callable(decision):
            decision = decision(action, target, payload)
        elif not isinstance(decision, str):
            decision = next((each for pattern, each in decision.items() if fnmatchcase(action, pattern)), "denied")
        if isinstance(decision, ActionOutcome):
            return decision
        return ActionOutcome(status=decision, approval_id=self._new_id("approval") if decision == "pending" else None)
