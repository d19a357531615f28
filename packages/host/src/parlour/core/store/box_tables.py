"""Defines the table of workspaces that conversations have used."""

from parlour.core.journal import Table

from .columns import columns

BOX_WORKSPACES = Table(
    "box_workspaces",
    columns("conversation_id session_id workspace_id", "expires_at"),
    key=("conversation_id", "session_id"),
    indexes=(("session_id",), ("expires_at",)),
)
"""Workspaces of the Box by the conversations that used them, so that they are deleted with the last one. A row expires
after the Box has deleted the workspace itself.
"""
