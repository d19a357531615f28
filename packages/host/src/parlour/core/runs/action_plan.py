"""Declares how a run's requested actions are planned. `core.approvals` implements it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from parlour.core.errors import Refused
from parlour.core.journal import Statement
from parlour.core.model.outbox_row import Outgoing
from parlour.core.store.approvals import Approval
from parlour_sdk.values import dataclass

from .session import RunSession


@dataclass(frozen=True, slots=True)
class Plan:
    """Statements of one unit, and rows that are handed to delivery after it."""

    name: str
    told: dict[str, Any]
    """For the ledger."""
    statements: list[Statement]
    rows: list[Outgoing] = field(default_factory=list)
    approval: Approval | None = None
    refusal: Refused | None = None

    @property
    def acts(self) -> bool:
        """Whether it changes anything: then its run is not repeated."""
        return self.refusal is None


class ActionPlanner(Protocol):
    """Decides whether an action is executed, put before a person, or refused."""

    async def plan(
        self, session: RunSession, action: str, target: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
    ) -> Plan:
        """Raises Refused for a request that is not valid."""
        ...

    def asked(self, approval: Approval) -> None:
        """Called after the unit with this approval was committed."""
        ...
