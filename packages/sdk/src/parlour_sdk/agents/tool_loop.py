"""The loop of one turn: calls the model, executes the tools it asks for, and repeats until it answers.

call     the model, or its fallbacks; the answer is streamed
act      on tool calls: all of an answer run concurrently, and their outputs go back to the model
steer    by messages that arrived during the run: after each batch of tools, and once more before the end
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from parlour_sdk import results
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.results import FinishReason
from parlour_sdk.results import Result

from .cited_passages import PASSAGES_KEY
from .compaction import HistoryCompactor
from .history import TOKENS_KEY
from .interim import InterimTexts
from .knowledge import KnowledgeSearch
from .model_call import FallbackModelCall
from .models import ModelChain
from .reply_stream import ModelReply
from .steering import SteeringReader
from .tool_calls import RunTools
from .tool_memory import TOOLS_KEY, ToolMemory
from .tools import Toolbox
from .turn_messages import TurnMessages

MAX_ROUNDS = 25
TOOL_LIMIT_REFUSAL = "This was not done: no more tools may be called. Answer now, with what you have."
EXTRA_CALLS_PER_ROUND = 2
"""Calls of a round besides the tools: the model call and the steering pull."""
CONTINUE = "Your answer was cut because it is long. Go on exactly where it stops, without repeating anything."
NO_TOOLS = {"tool_choice": "none"}


class ToolLoop:
    """Runs a turn. With `knowledge`, steering messages are searched for too and the answers have its citations.

    With `compactor`, the run waits a moment for a summary that was begun beside the answer.
    """

    def __init__(
        self,
        models: ModelChain,
        tools: RunTools,
        steering: SteeringReader,
        knowledge: KnowledgeSearch | None = None,
        max_rounds: int = MAX_ROUNDS,
        interim: InterimTexts | None = None,
        compactor: HistoryCompactor | None = None,
    ) -> None:
        self._models = models
        self._tools = tools
        self._steering = steering
        self._knowledge = knowledge
        self._max_rounds = max_rounds
        self._interim = interim or InterimTexts()
        self._compactor = compactor
        self._memory = ToolMemory()
        self._lost_media = False

    async def results(self, messages: TurnMessages, toolbox: Toolbox) -> AsyncGenerator[Result, None]:
        """Yields the results of the run to its end. Raises TurnError if no model answers."""
        rounds = 0
        while True:
            is_over_limit = rounds > 0 and (rounds >= self._max_rounds or self._tools.must_stop)
            model_call = self._call(messages, toolbox.definitions, is_over_limit)
            async with aclosing(model_call.results(self._models.streaming)) as model_results:
                async for result in model_results:
                    yield result
            answer = model_call.answer.without_calls() if is_over_limit else model_call.answer
            if answer.finish_reason == "length" and answer.text.strip() and not answer.tool_calls:
                continued: list[ModelReply] = []
                async with aclosing(self._continue(answer, messages, continued)) as more:
                    async for result in more:
                        yield result
                answer = continued[0]
            messages.add(answer.to_message())
            if answer.tool_calls:
                async with aclosing(self._act(answer, messages, toolbox, rounds)) as tool_results:
                    async for result in tool_results:
                        yield result
                rounds += 1
                continue
            steering_messages = await self._pull_steering()
            is_stopped = is_over_limit and not answer.says_something
            for result in self._completed(answer, is_over_limit):
                yield result
            if not steering_messages:
                steering_messages = await self._finish_summary()
            if self._compactor is not None:
                for result in await self._compactor.finish():
                    yield result
            if not steering_messages:
                yield results.finished(_finish_reason(answer, is_over_limit or is_stopped))
                return
            messages.add(*steering_messages)

    def _call(
        self, messages: TurnMessages, definitions: Sequence[ToolDefinition], is_over_limit: bool
    ) -> FallbackModelCall:
        extra = NO_TOOLS if is_over_limit and definitions else None
        self._last_call = FallbackModelCall(self._models, messages, definitions, extra)
        return self._last_call

    async def _continue(
        self, answer: ModelReply, messages: TurnMessages, continued: list[ModelReply]
    ) -> AsyncGenerator[Result, None]:
        """Lets the model go on once with an answer that reached its longest length; `continued` gets both joined."""
        more = messages.copy()
        more.add(answer.to_message(), Message(role="user", content=CONTINUE))
        model_call = FallbackModelCall(self._models, more, continues=True)
        async with aclosing(model_call.results(self._models.streaming)) as model_results:
            async for result in model_results:
                yield result
        continued.append(model_call.answer.without_calls().joined(answer))

    async def _act(
        self, answer: ModelReply, messages: TurnMessages, toolbox: Toolbox, rounds: int
    ) -> AsyncGenerator[Result, None]:
        """Executes the tool calls of an answer.

        Text before tool calls is a separate message, unless the agent shows one message per answer. Calls that come
        without any allowed round are refused, so that the model has to answer.
        """
        if answer.says_something:
            for result in self._interim.show(answer.text, self._models.streaming):
                yield result
            if self._interim.is_separate:
                yield self._message(answer, answer.content())
        batch = self._tools.batch(toolbox, answer.tool_calls)
        if rounds >= self._max_rounds:
            messages.add(*batch.refuse(TOOL_LIMIT_REFUSAL))
            return
        await self._tools.reserve(len(answer.tool_calls) + EXTRA_CALLS_PER_ROUND)
        async with aclosing(batch.results()) as tool_results:
            async for result in tool_results:
                yield result
        self._memory.add(answer.tool_calls, batch.messages)
        messages.add(*batch.messages, *await self._pull_steering())

    async def _pull_steering(self) -> list[Message]:
        """Pulls the messages that arrived during the run, each with passages of the knowledge bases."""
        pulled = await self._steering.pull()
        if self._knowledge is not None:
            pulled = [await self._knowledge.augment(each) for each in pulled]
        return [each.to_message() for each in pulled]

    async def _finish_summary(self) -> list[Message]:
        """Waits for a summary that is being made; returns the messages that end the waiting."""
        while self._compactor is not None and self._compactor.is_running:
            if await self._compactor.wait():
                break
            if arrived := await self._pull_steering():
                return arrived
        return []

    def _completed(self, answer: ModelReply, is_over_limit: bool) -> list[Result]:
        """Builds the results of a whole answer: its message, and before it what was not streamed of its text."""
        ending = self._ending(answer, is_over_limit)
        content = answer.content()
        if ending:
            text = f"{answer.text}\n\n{ending}" if answer.text else ending
            content = text if isinstance(content, str) else [TextElement(text=text), *answer.media]
        streamed = [results.delta(f"\n\n{ending}")] if ending and answer.text and self._models.streaming else []
        return [*streamed, self._message(answer, self._interim.join(content))]

    def _ending(self, answer: ModelReply, is_over_limit: bool) -> str:
        """Returns the sentences that users need to know about an answer; empty for a whole one."""
        endings: list[str] = []
        if not answer.says_something:
            endings.append(
                self._models.sentence("tool_limit" if is_over_limit else "filtered", rounds=self._max_rounds)
            )
        elif answer.finish_reason == "content_filter":
            endings.append(self._models.sentence("filtered_partly"))
        elif answer.finish_reason == "length":
            endings.append(self._models.sentence("cut"))
        if self._last_call.lost_media and not self._lost_media:
            self._lost_media = True
            endings.append(self._models.sentence("media_refused"))
        return "\n\n".join(endings)

    def _message(self, answer: ModelReply, content: Any) -> Result:
        reasoning = answer.reasoning if self._models.show_thinking else ""
        return results.completed(
            Message(role="assistant", content=content, reasoning=reasoning or None, metadata=self._metadata(answer))
        )

    def _metadata(self, answer: ModelReply) -> dict[str, Any]:
        metadata: dict[str, Any] = {"model_id": answer.model_id}
        if answer.counted_tokens:
            metadata[TOKENS_KEY] = {"counted": answer.counted_tokens, "estimated": answer.estimated_tokens}
        if self._knowledge is not None and self._knowledge.citations:
            metadata["citations"] = list(self._knowledge.citations)
            if cited := self._knowledge.cited_passages(answer.text):
                metadata[PASSAGES_KEY] = cited
        if calls := self._memory.take():
            metadata[TOOLS_KEY] = calls
        return metadata


def _finish_reason(answer: ModelReply, is_over_limit: bool) -> FinishReason:
    if is_over_limit:
        return "tool_limit"
    return "length" if answer.finish_reason == "length" else "stop"
