"""A budget: how much of the Host's models somebody may use in a day, or ever. What was used others count."""

from dataclasses import asdict
from typing import Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .providers import Asking

Scope = Literal["sender", "conversation", "agent", "workspace"]
Period = Literal["day", "total"]


@dataclass(frozen=True, slots=True)
class Budget:
    budget_id: str
    name: str
    scope: Scope
    target: str = ""
    """The one sender, conversation or agent it is for; empty: each has as much."""
    period: Period = "day"
    tokens: int = 0
    """0 means no limit."""
    cost_micros: int = 0
    enabled: bool = True

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Budget":
        return cls(**loads(text))

    def subject(self, asking: Asking) -> str | None:
        """Whose use this is; None when the budget is not for them."""
        subject = subject_of(self.scope, asking)
        applies = self.enabled and bool(subject) and self.target in ("", subject)
        return subject if applies else None


def subject_of(scope: Scope, asking: Asking) -> str:
    match scope:
        case "sender":
            return sender(asking)
        case "conversation":
            return asking.conversation_id
        case "agent":
            return asking.agent_id
        case "workspace":
            return "workspace"


def sender(asking: Asking) -> str:
    """Ids of people are a platform's own, so the same id on another bot is somebody else."""
    if not asking.actor_id:
        return "unknown" if asking.run_id else f"plugin:{asking.plugin_id}"
    person = f"{asking.actor_type}:{asking.actor_id}"
    return f"{asking.bot_id}/{person}" if asking.bot_id else person
