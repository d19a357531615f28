"""What a run was granted, as its runner sees it."""

from typing import Literal

from .base import Tolerant


class ModelResource(Tolerant):
    model_id: str
    name: str
    type: Literal["llm", "embedding", "rerank"]
    provider: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    abilities: list[str] = []
    operations: list[str] = []


class ToolResource(Tolerant):
    tool_name: str
    description: str | None = None
    source: Literal["native", "plugin", "mcp", "skill"]
    operations: list[str] = []


class KnowledgeBaseResource(Tolerant):
    kb_id: str
    name: str
    description: str | None = None
    operations: list[str] = []


class SkillResource(Tolerant):
    skill_name: str
    display_name: str | None = None
    description: str | None = None


class FileResource(Tolerant):
    file_id: str
    name: str
    mime_type: str | None = None
    size_bytes: int | None = None
    operations: list[str] = []


class StorageResource(Tolerant):
    plugin_storage: bool = False
    workspace_storage: bool = False
    binding_storage: bool = False


class AgentResources(Tolerant):
    models: list[ModelResource] = []
    tools: list[ToolResource] = []
    knowledge_bases: list[KnowledgeBaseResource] = []
    skills: list[SkillResource] = []
    files: list[FileResource] = []
    storage: StorageResource = StorageResource()
    platform_capabilities: list[str] = []
