"""What the Host offers to runs and gets from elsewhere: models, tools, knowledge, skills, files, platforms.

Each is a port. A catalogue tells what there is, without waiting, since it is asked before every run.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from parlour_sdk.protocol.files import FileChunk
from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.protocol.listing import BotCapabilities, BotSummary
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer
from parlour_sdk.protocol.resources import (
    FileResource,
    KnowledgeBaseResource,
    ModelResource,
    SkillResource,
    ToolResource,
)
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

UNSURE = ("provider_timeout", "stream_cut", "answer_malformed", "answer_too_large")
"""Failures after which a model's provider may have done, and charged, the whole work."""


class ProviderFailed(Exception):
    """What stands behind a Host action refused or failed."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class Asking:
    """On whose behalf something is asked."""

    plugin_id: str
    run_id: str = ""
    agent_id: str = ""
    conversation_id: str = ""
    actor_type: str = ""
    actor_id: str = ""
    bot_id: str = ""


class Models(Protocol):
    def resources(self) -> Sequence[ModelResource]: ...

    def parameters(self, model_id: str) -> Mapping[str, Any]:
        """Returns what is configured to go with every request to this model."""
        ...

    def worst_case(self, request: InvokeModel | Embed | Rerank) -> Usage:
        """The most that the call can use and cost."""
        ...

    def identity(self, model_id: str) -> dict[str, str]:
        """Returns the service's own name of the model and the kind of its provider, as far as they are known."""
        ...

    async def invoke(self, asking: Asking, request: InvokeModel) -> ModelAnswer: ...

    def stream(self, asking: Asking, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        """Closed early when nobody reads on: what it holds is let go then."""
        ...

    async def rerank(self, asking: Asking, request: Rerank) -> RerankAnswer: ...

    async def embed(self, asking: Asking, request: Embed) -> EmbedAnswer: ...


class Tools(Protocol):
    def resources(self) -> Sequence[ToolResource]: ...

    def read_only(self, tool_name: str) -> bool: ...

    async def detail(self, tool_name: str) -> ToolDetail: ...

    async def call(self, asking: Asking, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome: ...


class Knowledge(Protocol):
    def resources(self) -> Sequence[KnowledgeBaseResource]: ...

    async def retrieve(
        self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None
    ) -> Sequence[KnowledgeChunk]: ...


class Skills(Protocol):
    def resources(self) -> Sequence[SkillResource]: ...

    async def activate(self, skill_name: str) -> ActiveSkill: ...


class Files(Protocol):
    def resources(self) -> Sequence[FileResource]: ...

    async def read(self, file_key: str, offset: int, length: int) -> FileChunk: ...


class Platforms(Protocol):
    def bots(self) -> Sequence[BotSummary]: ...

    def capabilities(self, bot_id: str) -> BotCapabilities | None: ...

    async def call(self, asking: Asking, bot_id: str, api: str, arguments: dict[str, Any]) -> Any:
        """One method of the platform API; `arguments` are its request without the call's own fields."""
        ...


class Nothing:
    """No models, tools, knowledge, skills, files or bots: what a Host has before any are configured."""

    def resources(self) -> Sequence[Any]:
        return ()

    def bots(self) -> Sequence[BotSummary]:
        return ()

    def capabilities(self, bot_id: str) -> BotCapabilities | None:
        return None

    def read_only(self, tool_name: str) -> bool:
        return False

    def parameters(self, model_id: str) -> Mapping[str, Any]:
        return {}

    def worst_case(self, request: InvokeModel | Embed | Rerank) -> Usage:
        return Usage()

    def identity(self, model_id: str) -> dict[str, str]:
        return {}

    async def invoke(self, asking: Asking, request: InvokeModel) -> ModelAnswer:
        raise _absent("model", request.model_id)

    def stream(self, asking: Asking, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        raise _absent("model", request.model_id)

    async def rerank(self, asking: Asking, request: Rerank) -> RerankAnswer:
        raise _absent("model", request.model_id)

    async def embed(self, asking: Asking, request: Embed) -> EmbedAnswer:
        raise _absent("model", request.model_id)

    async def detail(self, tool_name: str) -> ToolDetail:
        raise _absent("tool", tool_name)

    async def activate(self, skill_name: str) -> ActiveSkill:
        raise _absent("skill", skill_name)

    async def retrieve(self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None) -> Sequence[Any]:
        raise _absent("knowledge base", kb_id)

    async def read(self, file_key: str, offset: int, length: int) -> FileChunk:
        raise _absent("file", file_key)


class NoTools(Nothing):
    async def call(self, asking: Asking, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        raise _absent("tool", tool_name)


class NoPlatforms(Nothing):
    async def call(self, asking: Asking, bot_id: str, api: str, arguments: dict[str, Any]) -> Any:
        raise _absent("bot", bot_id)


def _absent(kind: str, name: str) -> ProviderFailed:
    return ProviderFailed("not_found", f"there is no {kind} '{name}'")


@dataclass(frozen=True, slots=True)
class Providers:
    models: Models = field(default_factory=Nothing)
    tools: Tools = field(default_factory=NoTools)
    knowledge: Knowledge = field(default_factory=Nothing)
    skills: Skills = field(default_factory=Nothing)
    files: Files = field(default_factory=Nothing)
    platforms: Platforms = field(default_factory=NoPlatforms)
