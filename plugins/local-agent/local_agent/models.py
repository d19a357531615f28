"""Asks the agent's models: the primary one, and its fallbacks in order when it can't answer or has nothing to say."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ModelAnswer, ModelChunk, ToolDefinition
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.results import Result

from . import budget, estimates, media
from .answers import Answer, Writing
from .dialogue import Dialogue
from .failing import Failed, ends_the_run
from .settings import Settings

Tools = Sequence[ToolDefinition] | None


@dataclass(frozen=True, slots=True)
class Trouble:
    model: str
    sentence: str
    code: str = "local-agent.model_failed"
    retryable: bool = False


class Models:
    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI, settings: Settings) -> None:
        self._ctx = ctx
        self._api = api
        self._models = _chosen(ctx, settings)
        self._preferred = 0
        self._streaming = settings.streaming and _is_seen_growing(ctx)
        self.show_thinking = settings.show_thinking

    @property
    def primary(self) -> ModelResource:
        return self._models[0]

    def ask(self, dialogue: Dialogue, tools: Sequence[ToolDefinition]) -> "Asking":
        return Asking(self, dialogue, tools, self._streaming)

    async def say(self, prompt: Sequence[Message]) -> str:
        """A text that nobody sees grow."""
        asking = Asking(self, Dialogue(prompt[:-1], (), prompt[-1]), (), streaming=False)
        async with aclosing(asking.results()) as unseen:
            async for _ in unseen:
                pass
        return asking.answer.text

    def in_turn(self) -> Iterator[ModelResource]:
        """Beginning with the one that answered last: a run does not go back to one that failed."""
        yield from self._models[self._preferred :]

    def prefer(self, model: ModelResource) -> None:
        self._preferred = self._models.index(model)

    async def invoke(self, model: ModelResource, prompt: Sequence[Message], tools: Tools) -> ModelAnswer:
        return await self._api.models.invoke(model.model_id, media.for_model(prompt, model.abilities), tools)

    def stream(self, model: ModelResource, prompt: Sequence[Message], tools: Tools) -> AsyncGenerator[ModelChunk, None]:
        return self._api.models.stream(model.model_id, media.for_model(prompt, model.abilities), tools)

    def trouble(self, model: ModelResource, error: AgentAPIException, shown: bool) -> Trouble:
        """Raises what nobody else can mend; an answer of which a part was shown is not begun anew by another."""
        if ends_the_run(error, self._ctx):
            raise error
        trouble = Trouble(model.name, error.message, retryable=error.retryable)
        if shown:
            sentence = f"The answer of the model '{model.name}' broke off: {error.message}"
            raise Failed("local-agent.model_failed", sentence, error.retryable) from error
        return trouble


class Asking:
    """One question to the models. `answer` is there once the results were read to their end; or it is Failed."""

    answer: Answer

    def __init__(self, models: Models, dialogue: Dialogue, tools: Sequence[ToolDefinition], streaming: bool) -> None:
        self._models = models
        self._dialogue = dialogue
        self._tools = tools
        self._streaming = streaming

    async def results(self) -> AsyncGenerator[Result, None]:
        troubles: list[Trouble] = []
        for model in self._models.in_turn():
            writing = Writing(self._models.show_thinking)
            tools = self._tools if "tools" in model.abilities or not model.abilities else ()
            taken = estimates.of_tools(tools)
            room = budget.room(model)
            prompt, estimated = self._dialogue.within(None if room is None else room - taken)
            try:
                async with aclosing(self._written(model, writing, prompt, tools or None)) as seen:
                    async for result in seen:
                        yield result
            except AgentAPIException as error:
                troubles.append(self._models.trouble(model, error, writing.shown))
                continue
            self.answer = writing.answer(model.model_id, estimated + taken)
            if not self.answer.is_nothing:
                self._models.prefer(model)
                return
            troubles.append(Trouble(model.name, "it gave an empty answer", "runner.no_output"))
        raise _nobody_answered(troubles)

    async def _written(
        self, model: ModelResource, writing: Writing, prompt: Sequence[Message], tools: Tools
    ) -> AsyncGenerator[Result, None]:
        """What one model answers; results only where it is seen growing."""
        if not self._streaming:
            answer = await self._models.invoke(model, prompt, tools)
            writing.take(answer.message, answer.usage, answer.finish_reason)
            writing.end()
            return
        async with aclosing(self._models.stream(model, prompt, tools)) as parts:
            async for part in parts:
                for result in writing.take(part.chunk, part.usage, part.finish_reason):
                    yield result
        for result in writing.end():
            yield result


def _is_seen_growing(ctx: AgentRunContext) -> bool:
    """A platform that shows whole messages only is spared the fragments; everywhere else somebody may watch."""
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


def _nobody_answered(troubles: Sequence[Trouble]) -> Failed:
    """One sentence, with the reason of each."""
    last = troubles[-1]
    if len(troubles) == 1:
        sentence = f"The model '{last.model}' did not answer: {last.sentence}"
    else:
        reasons = "; ".join(f"'{each.model}': {each.sentence.rstrip('.')}" for each in troubles)
        sentence = f"None of the agent's {len(troubles)} models answered. {reasons}"
    return Failed(last.code, f"{sentence.rstrip('.')}.", any(each.retryable for each in troubles))
