"""Private memory of agents as values: the policy of an agent, whose memory it is, and what is remembered."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from parlour_sdk.values import dataclass

from .ids import AgentId, BotId

MemoryScope = Literal["off", "person", "chat"]
NAMESPACE: Final = "memory"
TOOLS: Final = ("memory.remember", "memory.recall", "memory.forget")
CHAT_OWNER: Final = "chat"
"""Type of an owner that is a chat; the types of people are those of actors."""
MAX_CHARACTERS: Final = 1000
"""Characters of one memory."""
DEFAULT_ENTRIES: Final = 200
MAX_ENTRIES: Final = 2000
"""Largest number of memories of one owner that a policy may allow."""
DEFAULT_DAYS: Final = 365.0


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """What one agent may remember. It is off unless an operator turns it on."""

    scope: MemoryScope = "off"
    """Whose memory it is: that of each person who writes, or that of each chat."""
    consent: bool = True
    """True if nothing is remembered before the person, or the chat, has agreed with `/memory on`."""
    max_entries: int = DEFAULT_ENTRIES
    """Memories of one owner."""
    retention_days: float = DEFAULT_DAYS
    """Days after its last change for which a memory is kept; 0 means without limit."""

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "MemoryPolicy":
        return cls(**values)

    @property
    def is_on(self) -> bool:
        return self.scope != "off"

    @property
    def tool_names(self) -> frozenset[str]:
        """Returns the names of the tools that the agent gets."""
        return frozenset(TOOLS if self.is_on else ())


@dataclass(frozen=True, slots=True)
class MemoryOwner:
    """Whose memory it is. People of another bot, or of the same name, are other owners."""

    agent_id: AgentId
    bot_id: BotId
    owner_type: str
    owner_id: str
    principal: str = ""
    """API key or user whose chat it is; empty for a person, whose id says it, and for chats of platforms."""

    def columns(self) -> dict[str, str]:
        """Returns the values that identify the owner in a row."""
        return {
            "agent_id": self.agent_id,
            "bot_id": self.bot_id,
            "owner_type": self.owner_type,
            "owner_id": self.owner_id,
            "principal": self.principal,
        }


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered sentence."""

    memory_id: str
    text: str
    chat: str
    """Chat in which it was said. What was said in private, or in another group, is not used in a group."""
    is_private: bool
    created_at: int
    updated_at: int
