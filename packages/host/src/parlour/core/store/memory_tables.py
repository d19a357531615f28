"""Defines the tables of agents' private memory."""

from parlour.core.journal import Table

from .columns import columns

MEMORIES = Table(
    "memories",
    columns(
        "memory_id agent_id bot_id owner_type owner_id principal chat conversation_id run_id text origin",
        "private created_at updated_at expires_at",
    ),
    key=("memory_id",),
    indexes=(
        ("agent_id", "bot_id", "owner_type", "owner_id", "principal"),
        ("owner_type", "owner_id"),
        ("conversation_id",),
        ("expires_at",),
    ),
)
"""What agents remember about people and chats. Rows are deleted when they expire, with the agent, with the conversation
in which they were said, and with the person. `origin` is `agent`, or `operator` for a text that an operator changed.
"""

MEMORY_CONSENTS = Table(
    "memory_consents",
    columns("agent_id bot_id owner_type owner_id principal decision", "updated_at"),
    key=("agent_id", "bot_id", "owner_type", "owner_id", "principal"),
    indexes=(("owner_type", "owner_id"),),
)
"""Whether people and chats agreed to be remembered: `granted` or `refused`. A decision stays until the agent or the
person is deleted, since a refusal must outlast what it deleted.
"""
