"""The agent's models in the order in which they are tried, with the media that each accepts."""

from collections.abc import AsyncGenerator, Sequence

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ModelAnswer, ModelChunk, ToolDefinition
from parlour_sdk.protocol.resources import ModelResource

from . import media
from .failing import Failed
from .settings import Settings

Tools = Sequence[ToolDefinition] | None


class Models:
    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI, settings: Settings) -> None:
        self._api = api
        self._models = _chosen(ctx, settings)
        self.streaming = settings.streaming and _is_seen_growing(ctx)
        self.show_thinking = settings.show_thinking

    @property
    def primary(self) -> ModelResource:
        return self._models[0]

    def in_turn(self) -> list[ModelResource]:
        return list(self._models)

    def prefer(self, model: ModelResource) -> None:
        """Drops the models before this one, so that the run does not try failed models again."""
        self._models = self._models[self._models.index(model) :]

    def blinded(self, model: ModelResource) -> ModelResource:
        """Replaces media by notes for this model for the rest of the run, because it could not receive some of them."""
        blind = model.model_copy(update={"abilities": media.without_senses(model.abilities)})
        self._models[self._models.index(model)] = blind
        return blind

    async def invoke(self, model: ModelResource, prompt: Sequence[Message], tools: Tools) -> ModelAnswer:
        return await self._api.models.invoke(model.model_id, media.for_model(prompt, model.abilities), tools)

    def stream(self, model: ModelResource, prompt: Sequence[Message], tools: Tools) -> AsyncGenerator[ModelChunk, None]:
        return self._api.models.stream(model.model_id, media.for_model(prompt, model.abilities), tools)


def _is_seen_growing(ctx: AgentRunContext) -> bool:
    """Returns whether deltas can be shown: not on a platform that shows only whole messages, but anywhere else."""
    return ctx.trigger.source != "platform" or ctx.delivery.supports_streaming or ctx.delivery.supports_edit


def _chosen(ctx: AgentRunContext, settings: Settings) -> list[ModelResource]:
    if not settings.models:
        raise Failed("local-agent.no_model", "This agent has no model yet. Choose one in its settings.")
    granted = {each.model_id: each for each in ctx.resources.models if each.type == "llm"}
    found = [granted[model_id] for model_id in settings.models if model_id in granted]
    if not found:
        sentence = "This agent's model is gone, or is not for it to use. Choose another in its settings."
        raise Failed("local-agent.no_model", sentence)
    return found
