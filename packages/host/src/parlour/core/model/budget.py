"""Budgets: limits on the use of models, per day or in total. `core/models` counts what was used."""

from dataclasses import asdict
from typing import Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .ids import BudgetId
from .providers import CallContext

BudgetScope = Literal["sender", "conversation", "agent", "workspace"]
Period = Literal["day", "total"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limit of tokens and money for a sender, conversation, agent or the workspace."""

    budget_id: BudgetId
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

    def subject(self, context: CallContext) -> str | None:
        """Returns the subject that the call is charged to; None if the budget does not apply to the call."""
        subject = subject_in_scope(self.scope, context)
        applies = self.enabled and bool(subject) and self.target in ("", subject)
        return subject if applies else None


def subject_in_scope(scope: BudgetScope, context: CallContext) -> str:
    match scope:
        case "sender":
            return sender_key(context)
        case "conversation":
            return context.conversation_id
        case "agent":
            return context.agent_id
        case "workspace":
            return "workspace"


def sender_key(context: CallContext) -> str:
    """Returns the key of the sender. User ids belong to a platform, so the same id on another bot is another person."""
    if not context.actor_id:
        return "unknown" if context.run_id else f"plugin:{context.plugin_id}"
    person = f"{context.actor_type}:{context.actor_id}"
    return f"{context.bot_id}/{person}" if context.bot_id else person
