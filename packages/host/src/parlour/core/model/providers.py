"""Ports to the resources of runs: models, tools, knowledge bases, skills, files and platforms.

`resources` lists what is available. It is called before every run, so it must not wait.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from parlour_sdk.protocol.files import FileChunk
from parlour_sdk.protocol.knowledge import KnowledgeChunk, ParsedFile
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
from parlour_sdk.protocol.vectors import FoundVector, VectorPage, VectorRecord
from parlour_sdk.values import dataclass

from .ids import NO_AGENT, NO_BOT, NO_CONVERSATION, NO_RUN, AgentId, BotId, ConversationId, ModelId, PluginId, RunId
from .moderation import Moderate, ModerationAnswer

POSSIBLY_CHARGED_CODES = ("provider_timeout", "stream_cut", "answer_malformed", "answer_too_large")
"""Error codes after which the provider may have completed, and charged for, the whole call."""


class ProviderFailed(Exception):
    """Raised when a resource rejects a call or fails."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class CallContext:
    """Identifies on whose behalf a resource is called: plugin, run, agent, conversation and sender."""

    plugin_id: PluginId
    run_id: RunId = NO_RUN
    agent_id: AgentId = NO_AGENT
    conversation_id: ConversationId = NO_CONVERSATION
    actor_type: str = ""
    actor_id: str = ""
    bot_id: BotId = NO_BOT


class Models(Protocol):
    """Calls models."""

    def resources(self) -> Sequence[ModelResource]: ...

    def parameters(self, model_id: ModelId) -> Mapping[str, Any]:
        """Returns the parameters that are configured for every request to this model."""
        ...

    def max_usage(self, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
        """Returns the largest usage and cost that the call can have."""
        ...

    def identity(self, model_id: ModelId) -> dict[str, str]:
        """Returns the service's own name of the model and the kind of its provider, as far as they are known."""
        ...

    async def invoke(self, context: CallContext, request: InvokeModel) -> ModelAnswer: ...

    def stream(self, context: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        """Streams the answer. The caller closes the generator if it stops reading early, which frees the connection."""
        ...

    async def rerank(self, context: CallContext, request: Rerank) -> RerankAnswer: ...

    async def embed(self, context: CallContext, request: Embed) -> EmbedAnswer: ...

    async def moderate(self, context: CallContext, request: Moderate) -> ModerationAnswer: ...


class Tools(Protocol):
    """Describes and calls tools."""

    def resources(self) -> Sequence[ToolResource]: ...

    def read_only(self, tool_name: str) -> bool: ...

    async def detail(self, tool_name: str) -> ToolDetail: ...

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome: ...


@dataclass(frozen=True, slots=True)
class RecordedPassage:
    """A passage that a run found, with the score that it had."""

    chunk_id: str
    score: float


class Knowledge(Protocol):
    """Searches knowledge bases."""

    def resources(self) -> Sequence[KnowledgeBaseResource]: ...

    async def retrieve(
        self, context: CallContext, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None
    ) -> Sequence[KnowledgeChunk]: ...

    async def recall(
        self, kb_id: str, passages: Sequence[RecordedPassage], found_at: int
    ) -> Sequence[KnowledgeChunk] | None:
        """Returns passages that were found before; None if one of them was changed, replaced or deleted since."""
        ...

    async def read_file(self, plugin_id: PluginId, file_key: str, offset: int, length: int) -> FileChunk:
        """Returns a piece of a file that this plugin is asked about now. Raises ProviderFailed."""
        ...

    async def parse_file(self, plugin_id: PluginId, file_key: str, parser: str) -> ParsedFile:
        """Reads such a file. Raises ProviderFailed."""
        ...


class PluginVectors(Protocol):
    """Keeps and searches the vectors of plugins. `owner` is that of the plugin's storage. Raises ProviderFailed."""

    async def upsert(self, owner: str, collection: str, records: Sequence[VectorRecord]) -> None: ...

    async def search(
        self, owner: str, collection: str, vector: Sequence[float], top_k: int, filters: Mapping[str, Any] | None
    ) -> Sequence[FoundVector]: ...

    async def delete(
        self, owner: str, collection: str, vector_ids: Collection[str] | None, prefix: str | None
    ) -> None: ...

    async def list_ids(self, owner: str, collection: str, prefix: str, after: str, limit: int) -> VectorPage: ...


class Skills(Protocol):
    """Lists and activates skills."""

    def resources(self) -> Sequence[SkillResource]: ...

    async def active(self, context: CallContext) -> Collection[str]:
        """Returns the names of the skills that are active in the conversation."""
        ...

    async def activate(self, context: CallContext, skill_name: str, records: bool = True) -> ActiveSkill:
        """Returns what a skill says. It stays active in the conversation unless `records` is false."""
        ...


class Files(Protocol):
    """Reads files of the configuration."""

    def resources(self) -> Sequence[FileResource]: ...

    async def read(self, file_key: str, offset: int, length: int) -> FileChunk: ...


class Platforms(Protocol):
    """Calls the platform API of bots."""

    def bots(self) -> Sequence[BotSummary]: ...

    def capabilities(self, bot_id: BotId) -> BotCapabilities | None: ...

    async def call(self, context: CallContext, bot_id: BotId, api: str, arguments: dict[str, Any]) -> Any:
        """Calls one method of the platform API; `arguments` are its request without the fields of the call itself."""
        ...


class EmptyProvider:
    """Provider without models, tools, knowledge, skills, files or bots, for a Host on which none are configured."""

    def resources(self) -> Sequence[Any]:
        return ()

    def bots(self) -> Sequence[BotSummary]:
        return ()

    def capabilities(self, bot_id: BotId) -> BotCapabilities | None:
        return None

    def read_only(self, tool_name: str) -> bool:
        return False

    def parameters(self, model_id: ModelId) -> Mapping[str, Any]:
        return {}

    def max_usage(self, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
        return Usage()

    def identity(self, model_id: ModelId) -> dict[str, str]:
        return {}

    async def invoke(self, context: CallContext, request: InvokeModel) -> ModelAnswer:
        raise _not_found("model", request.model_id)

    def stream(self, context: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        raise _not_found("model", request.model_id)

    async def rerank(self, context: CallContext, request: Rerank) -> RerankAnswer:
        raise _not_found("model", request.model_id)

    async def embed(self, context: CallContext, request: Embed) -> EmbedAnswer:
        raise _not_found("model", request.model_id)

    async def moderate(self, context: CallContext, request: Moderate) -> ModerationAnswer:
        raise _not_found("model", request.model_id)

    async def detail(self, tool_name: str) -> ToolDetail:
        raise _not_found("tool", tool_name)

    async def active(self, context: CallContext) -> Collection[str]:
        return ()

    async def activate(self, context: CallContext, skill_name: str, records: bool = True) -> ActiveSkill:
        raise _not_found("skill", skill_name)

    async def retrieve(
        self, context: CallContext, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None
    ) -> Sequence[Any]:
        raise _not_found("knowledge base", kb_id)

    async def read(self, file_key: str, offset: int, length: int) -> FileChunk:
        raise _not_found("file", file_key)

    async def recall(
        self, kb_id: str, passages: Sequence[RecordedPassage], found_at: int
    ) -> Sequence[KnowledgeChunk] | None:
        return None

    async def read_file(self, plugin_id: PluginId, file_key: str, offset: int, length: int) -> FileChunk:
        raise _not_found("file", file_key)

    async def parse_file(self, plugin_id: PluginId, file_key: str, parser: str) -> ParsedFile:
        raise _not_found("file", file_key)


class EmptyTools(EmptyProvider):
    """Provider without tools."""

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        raise _not_found("tool", tool_name)


class EmptyPlatforms(EmptyProvider):
    """Provider without bots."""

    async def call(self, context: CallContext, bot_id: BotId, api: str, arguments: dict[str, Any]) -> Any:
        raise _not_found("bot", bot_id)


def _not_found(kind: str, name: str) -> ProviderFailed:
    return ProviderFailed("not_found", f"there is no {kind} '{name}'")


class Documents(Protocol):
    """Reads the text of documents, such as PDF and Word files."""

    async def read(self, key: str, name: str, mime_type: str, open_content: Callable[[], AsyncIterator[bytes]]) -> str:
        """Returns the text of a document. Raises ProviderFailed with the reason if it can't be read.

        `key` identifies the content, so that it is read once for several calls.
        """
        ...


class NoDocuments:
    """Reader of a Host that reads no documents."""

    async def read(self, key: str, name: str, mime_type: str, open_content: Callable[[], AsyncIterator[bytes]]) -> str:
        raise ProviderFailed("not_supported", "the text of documents is not read here")


@dataclass(frozen=True, slots=True)
class Providers:
    """All resources of runs."""

    models: Models = field(default_factory=EmptyProvider)
    tools: Tools = field(default_factory=EmptyTools)
    knowledge: Knowledge = field(default_factory=EmptyProvider)
    skills: Skills = field(default_factory=EmptyProvider)
    files: Files = field(default_factory=EmptyProvider)
    platforms: Platforms = field(default_factory=EmptyPlatforms)
    documents: Documents = field(default_factory=NoDocuments)
