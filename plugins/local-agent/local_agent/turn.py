"""The main loop of one turn, from the user's message to the end of the run. The other modules are its parts.

prepare  the prompt, the history within its budget, the tools, and passages of the knowledge bases
call     the model, or its fallbacks; the answer is streamed
act      on tool calls: all of an answer run concurrently, and their outputs go back to the model
steer    by messages that arrived during the run: after each batch of tools, and once more before the end
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from parlour_sdk import results
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import FinishReason
from parlour_sdk.results import Result

from .answers import Answer
from .asking import Asking
from .batch import Batch
from .dialogue import Dialogue
from .history import TOKENS
from .knowledge import Knowledge
from .models import Models
from .opening import Opening
from .outputs import Outputs
from .pace import Pace
from .said import Said
from .settings import Settings
from .steering import Steering
from .toolbox import Toolbox

NO_MORE = "This was not done: no more tools may be called. Answer now, with what you have."
AROUND_A_ROUND = 2
"""Calls of a round besides the tools: the model call and the steering pull."""
GAVE_UP = "I stopped after {rounds} rounds of tool calls without coming to an answer."


class Turn:
    def __init__(
        self,
        ctx: AgentRunContext,
        settings: Settings,
        opening: Opening,
        models: Models,
        knowledge: Knowledge,
        steering: Steering,
        outputs: Outputs,
        pace: Pace,
    ) -> None:
        self._ctx = ctx
        self._settings = settings
        self._opening = opening
        self._models = models
        self._knowledge = knowledge
        self._steering = steering
        self._outputs = outputs
        self._pace = pace

    async def results(self, what: Said) -> AsyncGenerator[Result, None]:
        begun = await self._opening.begin(what)
        for result in begun.results:
            yield result
        dialogue, toolbox = begun.dialogue, begun.toolbox
        rounds = 0
        while True:
            over = rounds > self._settings.max_tool_rounds
            asking = Asking(self._ctx, self._models, dialogue, toolbox.definitions)
            async with aclosing(asking.results(self._models.streaming)) as written:
                async for result in written:
                    yield result
            answer = asking.answer.without_calls() if over else asking.answer
            dialogue.add(answer.for_model())
            if answer.tool_calls:
                async with aclosing(self._act(answer, dialogue, toolbox, rounds)) as acting:
                    async for result in acting:
                        yield result
                rounds += 1
                continue
            further = await self._heard()
            yield self._completed(answer)
            if not further:
                yield results.finished(_reason(answer, over))
                return
            dialogue.add(*further)

    async def _act(
        self, answer: Answer, dialogue: Dialogue, toolbox: Toolbox, rounds: int
    ) -> AsyncGenerator[Result, None]:
        """Executes the tool calls of an answer.

        Text before tool calls is a separate message. After the last allowed round the calls are refused, so that the
        model has to answer.
        """
        if answer.says_something:
            yield self._completed(answer)
        batch = Batch(self._ctx, toolbox, self._outputs, answer.tool_calls)
        if rounds == self._settings.max_tool_rounds:
            dialogue.add(*batch.refused(NO_MORE))
            return
        await self._pace.step(len(answer.tool_calls) + AROUND_A_ROUND)
        async with aclosing(batch.results()) as called:
            async for result in called:
                yield result
        dialogue.add(*batch.messages, *await self._heard())

    async def _heard(self) -> list[Message]:
        """Pulls the messages that arrived during the run, each with passages of the knowledge bases."""
        heard = []
        for what in await self._steering.pull():
            passages = await self._knowledge.ranked(what, await self._knowledge.found(what))
            heard.append(self._knowledge.put_beside(what, passages).message())
        return heard

    def _completed(self, answer: Answer) -> Result:
        """Builds the message; if the model reached the tool limit without a text, a fixed text takes its place."""
        content = answer.content() if answer.says_something else GAVE_UP.format(rounds=self._settings.max_tool_rounds)
        shown = answer.reasoning if self._settings.show_thinking else ""
        message = Message(role="assistant", content=content, reasoning=shown or None, metadata=self._metadata(answer))
        return results.completed(message)

    def _metadata(self, answer: Answer) -> dict[str, Any]:
        told: dict[str, Any] = {"model_id": answer.model_id}
        if answer.counted:
            told[TOKENS] = {"counted": answer.counted, "estimated": answer.estimated}
        if self._knowledge.citations:
            told["citations"] = list(self._knowledge.citations)
        return told


def _reason(answer: Answer, no_more_tools: bool) -> FinishReason:
    if no_more_tools:
        return "tool_limit"
    return "length" if answer.finish_reason == "length" else "stop"
