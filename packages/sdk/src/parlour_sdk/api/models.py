"""Calls models whose keys are held by the Host."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import (
    Embed,
    EmbedAnswer,
    InvokeModel,
    ListModels,
    ModelAnswer,
    ModelChunk,
    ModelList,
    Rerank,
    RerankAnswer,
    RerankScore,
    ToolDefinition,
)
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.tools import ToolDetail

from .calls import Namespace

Prompt = str | Message | Sequence[str | Message]
"""One message or several; a plain text stands for a user message."""
Tools = Sequence[ToolDefinition | ToolDetail]
"""Tool definitions; the result of `tools.get` can be passed as it is."""


class ModelsAPI(Namespace):
    async def available(self) -> list[ModelResource]:
        """Returns the models that were granted."""
        return (await self._calls.call("list_models", ListModels, ModelList)).models

    async def invoke(
        self, model_id: str, messages: Prompt, tools: Tools | None = None, extra: dict[str, Any] | None = None
    ) -> ModelAnswer:
        return await self._calls.call(
            "invoke_llm", InvokeModel, ModelAnswer, **_invocation(model_id, messages, tools, extra)
        )

    def stream(
        self, model_id: str, messages: Prompt, tools: Tools | None = None, extra: dict[str, Any] | None = None
    ) -> AsyncGenerator[ModelChunk, None]:
        """Yields the answer in chunks. Use it with `contextlib.aclosing`, so that leaving early cancels the call."""
        return self._calls.stream(
            "invoke_llm_stream", InvokeModel, ModelChunk, **_invocation(model_id, messages, tools, extra)
        )

    async def rerank(
        self, model_id: str, query: str, documents: list[str], top_k: int | None = None
    ) -> list[RerankScore]:
        """Returns the scores, best first; `index` is the position in `documents`. At most 64 documents."""
        answer = await self._calls.call(
            "invoke_rerank", Rerank, RerankAnswer, model_id=model_id, query=query, documents=documents, top_k=top_k
        )
        return answer.results

    async def embed(self, model_id: str, texts: list[str]) -> list[list[float]]:
        """Returns one vector for each text. At most 256 texts."""
        return (
            await self._calls.call("invoke_embedding", Embed, EmbedAnswer, model_id=model_id, texts=texts)
        ).embeddings


def _invocation(model_id: str, messages: Prompt, tools: Tools | None, extra: dict[str, Any] | None) -> dict[str, Any]:
    message_list = [messages] if isinstance(messages, str | Message) else messages
    return {
        "model_id": model_id,
        "messages": [Message(role="user", content=each) if isinstance(each, str) else each for each in message_list],
        "tools": None if tools is None else [_definition(tool) for tool in tools],
        "extra": extra,
    }


def _definition(tool: ToolDefinition | ToolDetail) -> ToolDefinition:
    if isinstance(tool, ToolDetail):
        return ToolDefinition(
            name=tool.tool_name, description=tool.description, parameters_schema=tool.parameters_schema
        )
    return tool
