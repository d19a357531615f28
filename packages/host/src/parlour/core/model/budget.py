"""Budgets: limits on the use of models, per day or in total. `core/models` counts what was used."""

from dataclasses import asdict
from typing import Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .providers import CallContext

BudgetScope = Literal["sender", "conversation", "agent", "workspace"]
Period = Literal["day", "total"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limit of tokens and money for a sender, conversation, agent or the workspace."""

    budget_id: str
    name: str
    scope: BudgetScope
    target: str = ""
    """The sender, conversation or agent that is limited; empty means that the limit applies to each of them."""
    period: Period = "day"
    tokens: int = 0
    """Limit in tokens; 0 means no limit."""
    cost_micros: int = 0
    """Limit in millionths of the operator's currency; 0 means no limit."""
    enabled: bool = True

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Budget":
        return cls(**loads(text))

    def subject(self, asking: CallContext) -> str | None:
        """Returns the subject that the call is charged to; None if the budget does not apply to the call."""
        subject = subject_in_scope(self.scope, asking)
        applies = self.enabled and bool(subject) and self.target in ("", subject)
        return subject if applies else None


def subject_in_scope(scope: BudgetScope, asking: CallContext) -> str:
    match scope:
        case "sender":
            return sender_key(asking)
        case "conversation":
            return asking.conversation_id
        case "agent":
            return asking.agent_id
        case "workspace":
            return "workspace"


def sender_key(asking: CallContext) -> str:
    """Returns the key of the sender. User ids belong to a platform, so the same id on another bot is another person."""
    if not asking.actor_id:
        return "unknown" if asking.run_id else f"plugin:{asking.plugin_id}"
    person = f"{asking.actor_type}:{asking.actor_id}"
    return f"{asking.bot_id}/{person}" if asking.bot_id else person
