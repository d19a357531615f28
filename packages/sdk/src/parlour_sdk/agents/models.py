"""Calls the agent's models in the order in which they are tried, with the media that each accepts."""

import copy
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ModelAnswer, ModelChunk, ToolDefinition
from parlour_sdk.protocol.resources import ModelResource

from . import media
from .errors import TurnError, ends_run, seconds_left
from .model_health import ModelHealth
from .sentences import SentenceKey, sentence

Tools = Sequence[ToolDefinition] | None
FIRST_PART_SECONDS = 30.0
"""Longest time for the beginning of an answer while another model could be asked instead."""


class ModelChain:
    """The models of one run, the primary one first. Raises TurnError if none of them is granted."""

    def __init__(
        self,
        ctx: AgentRunContext,
        api: AgentRunAPI,
        model_ids: Sequence[str],
        streaming: bool = True,
        show_thinking: bool = False,
        health: ModelHealth | None = None,
    ) -> None:
        self._ctx = ctx
        self._api = api
        self.health = health or ModelHealth()
        self._models = self.health.in_order(_select_models(ctx, model_ids))
        self._parameters: dict[str, Any] = {}
        self.streaming = streaming and _shows_deltas(ctx)
        self.show_thinking = show_thinking

    @property
    def primary(self) -> ModelResource:
        """The model to call first; after a failure it is the one that answered instead."""
        return self._models[0]

    def candidates(self) -> list[ModelResource]:
        """Returns the models in the order in which to try them."""
        return list(self._models)

    def prefer(self, model: ModelResource) -> None:
        """Drops the models before this one, so that the run does not try failed models again."""
        self._models = self._models[self._models.index(model) :]
        self.health.answered(model.model_id)

    def preferring(self, model_id: str | None) -> "ModelChain":
        """Returns a chain that calls another granted model first, and these if it fails; this one without such a model.

        Its calls have none of this agent's own parameters.
        """
        granted = {each.model_id: each for each in self._ctx.resources.models if each.type == "llm"}
        first = [granted[model_id]] if model_id in granted else []
        chain = copy.copy(self)
        chain._models = [*first, *(each for each in self._models if each not in first)]
        chain._parameters = {}
        chain.streaming = chain.show_thinking = False
        return chain

    def set_parameters(self, parameters: dict[str, Any]) -> None:
        """Sets parameters of every request, such as `temperature`."""
        self._parameters = parameters

    def with_window(self, model: ModelResource, tokens: int) -> ModelResource:
        """Keeps the learned size of a model's context window, for this run and later ones."""
        smaller = model.model_copy(update={"context_window": tokens})
        self._models[self._models.index(model)] = smaller
        self.health.learn_window(model.model_id, tokens)
        return smaller

    def first_part_seconds(self, others: int) -> float | None:
        """Returns the time for the beginning of an answer, with so many models left after this; None is no limit."""
        if not others:
            return None
        remaining = seconds_left(self._ctx)
        return FIRST_PART_SECONDS if remaining is None else max(1.0, min(FIRST_PART_SECONDS, remaining / (others + 1)))

    def without_media(self, model: ModelResource) -> ModelResource:
        """Replaces media by notes for this model for the rest of the run, because it could not receive some of them."""
        blind = model.model_copy(update={"abilities": media.text_abilities(model.abilities)})
        self._models[self._models.index(model)] = blind
        return blind

    def sentence(self, key: SentenceKey, **values: object) -> str:
        """Returns a sentence for users in the language of the run."""
        return sentence(key, self._ctx.runtime.locale, **values)

    def ends_run(self, error: AgentAPIException) -> bool:
        """Returns whether the error ends the run, so that no other model can help."""
        return ends_run(error, self._ctx)

    async def invoke(
        self, model: ModelResource, prompt: Sequence[Message], tools: Tools, extra: dict[str, Any] | None = None
    ) -> ModelAnswer:
        """Calls a model for a whole answer."""
        messages = media.adapt_to_model(prompt, model.abilities)
        return await self._api.models.invoke(model.model_id, messages, tools, self._extra(extra))

    def stream(
        self, model: ModelResource, prompt: Sequence[Message], tools: Tools, extra: dict[str, Any] | None = None
    ) -> AsyncGenerator[ModelChunk, None]:
        """Calls a model for an answer in chunks; use it with `contextlib.aclosing`."""
        messages = media.adapt_to_model(prompt, model.abilities)
        return self._api.models.stream(model.model_id, messages, tools, self._extra(extra))

    def _extra(self, extra: dict[str, Any] | None) -> dict[str, Any] | None:
        return {**self._parameters, **(extra or {})} or None


def selected_models(value: Any) -> tuple[str, ...]:
    """Reads the setting `model`, a `model-fallback-selector`: the ids of the primary model and its fallbacks."""
    match value:
        case None:
            return ()
        case {"primary": str() | None as primary}:
            fallbacks = value.get("fallbacks") or []
            if isinstance(fallbacks, list) and all(isinstance(each, str) for each in fallbacks):
                return tuple(dict.fromkeys(each for each in (primary, *fallbacks) if each))
    sentence = """The agent's setting 'model' must be {"primary": a model id, "fallbacks": [model ids]}."""
    raise TurnError("configuration", sentence)


def _shows_deltas(ctx: AgentRunContext) -> bool:
    """Returns whether deltas can be shown: not on a platform that shows only whole messages, but anywhere else."""
    return ctx.trigger.source != "platform" or ctx.delivery.supports_streaming or ctx.delivery.supports_edit


def _select_models(ctx: AgentRunContext, model_ids: Sequence[str]) -> list[ModelResource]:
    if not model_ids:
        raise TurnError("no_model", "This agent has no model yet. Choose one in its settings.")
    granted = {each.model_id: each for each in ctx.resources.models if each.type == "llm"}
    selected = [granted[model_id] for model_id in model_ids if model_id in granted]
    if not selected:
        sentence = "This agent's model is gone, or is not for it to use. Choose another in its settings."
        raise TurnError("no_model", sentence)
    return selected
