"""Declares how a run's requested actions are planned. `core.approvals` implements it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from parlour.core.errors import CallRejected
from parlour.core.journal import Statement
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store.approvals import Approval
from parlour_sdk.values import dataclass

from .session import RunSession


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """The decision about one requested action: statements of one unit, and outbox rows that are delivered after its
    commit.
    """

    name: str
    ledger_data: dict[str, Any]
    """Data of the ledger's event about the decision."""
    statements: list[Statement]
    rows: list[OutboxRow] = field(default_factory=list)
    approval: Approval | None = None
    refusal: CallRejected | None = None

    @property
    def has_effect(self) -> bool:
        """True if the action changes something; its run is then not repeated."""
        return self.refusal is None


class ActionPlanner(Protocol):
    """Decides whether an action is executed, submitted for approval, or rejected."""

    async def plan(
        self, session: RunSession, action: str, target: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
    ) -> ActionPlan:
        """Plans one action. Raises Refused for an invalid request."""
        ...

    def on_approval_committed(self, approval: Approval) -> None:
        """Called after the unit with this approval was committed."""
        ...
