"""Calls to models that the Host holds the keys of."""

from typing import Any

from pydantic import Field

from .base import Listed, Positive, Tolerant
from .calls import Call
from .limits import EMBED_TEXTS, RERANK_DOCUMENTS
from .messages import Message, MessageChunk
from .resources import ModelResource
from .usage import Usage


class ToolDefinition(Tolerant):
    """A tool as a model is told of it."""

    name: str
    description: str | None = None
    parameters_schema: dict[str, Any] = {}


class ListModels(Call):
    """Asks for the models that were granted."""


class ModelList(Tolerant):
    """The models that were granted."""

    models: list[ModelResource] = []


class InvokeModel(Call):
    """The request of `invoke_llm` and `invoke_llm_stream`; `extra` goes to the provider as it is."""

    model_id: str
    messages: Listed[Message] = Field(min_length=1)
    tools: Listed[ToolDefinition] | None = None
    extra: dict[str, Any] | None = None


class ModelAnswer(Tolerant):
    """What a model answered, and what it cost."""

    message: Message
    usage: Usage
    model_id: str
    finish_reason: str


class ModelChunk(Tolerant):
    """A part of a streamed answer; the last ones carry usage and finish_reason."""

    chunk: MessageChunk
    usage: Usage | None = None
    model_id: str | None = None
    finish_reason: str | None = None


class Rerank(Call):
    """Orders documents by how well they fit a question."""

    model_id: str
    query: str
    documents: list[str] = Field(min_length=1, max_length=RERANK_DOCUMENTS)
    top_k: Positive | None = None


class RerankScore(Tolerant):
    """How well one document fits."""

    index: int
    """Of the document in the request, from 0."""
    score: float


class RerankAnswer(Tolerant):
    """The documents that fit best, in order."""

    results: list[RerankScore]
    usage: Usage | None = None


class Embed(Call):
    """Turns texts into vectors."""

    model_id: str
    texts: list[str] = Field(min_length=1, max_length=EMBED_TEXTS)


class EmbedAnswer(Tolerant):
    """One vector per text, in order."""

    embeddings: list[list[float]]
    usage: Usage | None = None
