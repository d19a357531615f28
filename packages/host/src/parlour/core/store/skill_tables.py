"""Defines the tables of skills."""

from parlour.core.journal import Table

from .columns import columns

SKILLS = Table(
    "skills",
    columns("skill_name definition sha256 artifact_id", "created_at updated_at"),
    key=("skill_name",),
    indexes=(("artifact_id",),),
)
"""Installed skills. The files of a skill are one artifact, which is deleted with the skill or its next version."""

SKILL_ACTIVATIONS = Table(
    "skill_activations",
    columns("conversation_id skill_name run_id", "activated_at expires_at"),
    key=("conversation_id", "skill_name"),
    indexes=(("skill_name",), ("expires_at",)),
)
"""Skills that were activated in a conversation. Rows are deleted with the conversation, with the skill, and some time
after the last activation.
"""
