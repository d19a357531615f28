"""What a run was granted, as its runner sees it."""

from typing import Literal

from pydantic import Field

from .base import Tolerant


class ModelResource(Tolerant):
    """A model that the run may call."""

    model_id: str
    name: str
    type: Literal["llm", "embedding", "rerank"]
    provider: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    abilities: list[str] = []
    """`vision`, `tools`, `reasoning` and so on."""
    operations: list[str] = []


class ToolResource(Tolerant):
    """A tool that the run may look at or call."""

    tool_name: str
    description: str | None = None
    source: Literal["native", "plugin", "mcp", "skill"]
    operations: list[str] = []
    version: str | None = None
    """Changes with the tool's detail, which a runner may therefore keep for later runs."""


class KnowledgeBaseResource(Tolerant):
    """A knowledge base that the run may search."""

    kb_id: str
    name: str
    description: str | None = None
    operations: list[str] = []


class SkillResource(Tolerant):
    """A skill that the run may take up."""

    skill_name: str
    display_name: str | None = None
    description: str | None = None
    active: bool = False
    """True in an answer of `list_skills` if the skill is active in the conversation."""


class FileResource(Tolerant):
    """A file that the run may read."""

    file_id: str
    name: str
    mime_type: str | None = None
    size_bytes: int | None = None
    operations: list[str] = []


class StorageResource(Tolerant):
    """Which areas of storage the run may use."""

    plugin_storage: bool = False
    workspace_storage: bool = False
    binding_storage: bool = False


class AgentResources(Tolerant):
    """Exactly what the run was granted. Ids are opaque."""

    models: list[ModelResource] = []
    tools: list[ToolResource] = []
    knowledge_bases: list[KnowledgeBaseResource] = []
    skills: list[SkillResource] = []
    files: list[FileResource] = []
    storage: StorageResource = Field(default_factory=StorageResource)
    platform_capabilities: list[str] = []
    """Patterns of the platform actions that the runner was granted."""
    platform_actions: list[str] = []
    """Names of the platform actions that the agent's policy allows here, some of them after an approval."""
