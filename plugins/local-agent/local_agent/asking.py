"""Makes one model call: tries the first model, and the next one if it fails or gives an empty answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from parlour_sdk.api import AgentAPIException
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from . import budget, estimates, media
from .answers import Answer, Writing
from .dialogue import Dialogue
from .failing import Failed, ends_the_run
from .models import Models, Tools

Part = tuple[Message, Usage | None, str | None]
"""A fragment, the usage and the finish reason; the last two are None until they are known."""


@dataclass(frozen=True, slots=True)
class Trouble:
    model: str
    sentence: str
    code: str = "local-agent.model_failed"
    retryable: bool = False


class Asking:
    """Calls the models. `answer` is set after the results were read to their end, or TurnError is raised.

    Only a streamed call (`growing`) yields results.
    """

    answer: Answer

    def __init__(
        self, ctx: AgentRunContext, models: Models, dialogue: Dialogue, tools: Sequence[ToolDefinition] = ()
    ) -> None:
        self._ctx = ctx
        self._models = models
        self._dialogue = dialogue
        self._tools = tools

    async def results(self, growing: bool) -> AsyncGenerator[Result, None]:
        troubles: list[Trouble] = []
        waiting = self._models.in_turn()
        while waiting:
            model = waiting.pop(0)
            writing = Writing(growing, self._models.show_thinking)
            tools = self._tools if "tools" in model.abilities or not model.abilities else ()
            taken, room = estimates.of_tools(tools), budget.room(model)
            prompt, estimated = self._dialogue.within(None if room is None else room - taken)
            try:
                async with aclosing(self._parts(model, prompt, tools or None, growing)) as parts:
                    async for part in parts:
                        for result in writing.take(*part):
                            yield result
            except AgentAPIException as error:
                if media.could_not_be_given(error, prompt, model.abilities):
                    waiting.insert(0, self._models.blinded(model))
                else:
                    troubles.append(self._trouble(model, error, writing.shown))
                continue
            for result in writing.end():
                yield result
            self.answer = writing.answer(model.model_id, estimated + taken)
            if not self.answer.is_nothing:
                self._models.prefer(model)
                return
            troubles.append(Trouble(model.name, "it gave an empty answer", "runner.no_output"))
        raise _nobody_answered(troubles)

    async def _parts(
        self, model: ModelResource, prompt: Sequence[Message], tools: Tools, growing: bool
    ) -> AsyncGenerator[Part, None]:
        if not growing:
            answer = await self._models.invoke(model, prompt, tools)
            yield answer.message, answer.usage, answer.finish_reason
            return
        async with aclosing(self._models.stream(model, prompt, tools)) as parts:
            async for part in parts:
                yield part.chunk, part.usage, part.finish_reason

    def _trouble(self, model: ModelResource, error: AgentAPIException, shown: bool) -> Trouble:
        """Returns the failure of a model.

        Raises instead if no other model can help, or if part of the answer was already shown: another model must not
        start it again.
        """
        if ends_the_run(error, self._ctx):
            raise error
        if shown:
            sentence = f"The answer of the model '{model.name}' broke off: {error.message}"
            raise Failed("local-agent.model_failed", sentence, error.retryable) from error
        return Trouble(model.name, error.message, retryable=error.retryable)


async def said(ctx: AgentRunContext, models: Models, prompt: Sequence[Message]) -> str:
    """Returns the text of an answer that is not shown to users."""
    asking = Asking(ctx, models, Dialogue(prompt[:-1], (), prompt[-1]))
    async with aclosing(asking.results(growing=False)) as unseen:
        async for _ in unseen:
            pass
    return asking.answer.text


def _nobody_answered(troubles: Sequence[Trouble]) -> Failed:
    """Builds the error for the case that no model answered, with the reason of each."""
    last = troubles[-1]
    if len(troubles) == 1:
        sentence = f"The model '{last.model}' did not answer: {last.sentence}"
    else:
        reasons = "; ".join(f"'{each.model}': {each.sentence.rstrip('.')}" for each in troubles)
        sentence = f"None of the agent's {len(troubles)} models answered. {reasons}"
    return Failed(last.code, f"{sentence.rstrip('.')}.", any(each.retryable for each in troubles))
