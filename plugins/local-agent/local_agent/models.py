"""The agent's models in the order in which they are tried, with the media that each accepts."""

from collections.abc import AsyncGenerator, Sequence

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ModelAnswer, ModelChunk, ToolDefinition
from parlour_sdk.protocol.resources import ModelResource

from . import media
from .errors import TurnError
from .settings import LocalAgentSettings

Tools = Sequence[ToolDefinition] | None


class ModelChain:
    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI, settings: LocalAgentSettings) -> None:
        self._api = api
        self._models = _select_models(ctx, settings)
        self.streaming = settings.streaming and _shows_deltas(ctx)
        self.show_thinking = settings.show_thinking

    @property
    def primary(self) -> ModelResource:
        return self._models[0]

    def candidates(self) -> list[ModelResource]:
        return list(self._models)

    def prefer(self, model: ModelResource) -> None:
        """Drops the models before this one, so that the run does not try failed models again."""
        self._models = self._models[self._models.index(model) :]

    def without_media(self, model: ModelResource) -> ModelResource:
        """Replaces media by notes for this model for the rest of the run, because it could not receive some of them."""
        blind = model.model_copy(update={"abilities": media.text_abilities(model.abilities)})
        self._models[self._models.index(model)] = blind
        return blind

    async def invoke(self, model: ModelResource, prompt: Sequence[Message], tools: Tools) -> ModelAnswer:
        return await self._api.models.invoke(model.model_id, media.adapt_to_model(prompt, model.abilities), tools)

    def stream(self, model: ModelResource, prompt: Sequence[Message], tools: Tools) -> AsyncGenerator[ModelChunk, None]:
        return self._api.models.stream(model.model_id, media.adapt_to_model(prompt, model.abilities), tools)


def _shows_deltas(ctx: AgentRunContext) -> bool:
    """Returns whether deltas can be shown: not on a platform that shows only whole messages, but anywhere else."""
    return ctx.trigger.source != "platform" or ctx.delivery.supports_streaming or ctx.delivery.supports_edit


def _select_models(ctx: AgentRunContext, settings: LocalAgentSettings) -> list[ModelResource]:
    if not settings.models:
        raise TurnError("local-agent.no_model", "This agent has no model yet. Choose one in its settings.")
    granted = {each.model_id: each for each in ctx.resources.models if each.type == "llm"}
    found = [granted[model_id] for model_id in settings.models if model_id in granted]
    if not found:
        sentence = "This agent's model is gone, or is not for it to use. Choose another in its settings."
        raise TurnError("local-agent.no_model", sentence)
    return found
