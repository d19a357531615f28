"""Builds the reply of a model from its fragments: text, reasoning, media and tool calls."""

from dataclasses import dataclass, replace
from typing import Any

from parlour_sdk import results
from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement, plain_text
from parlour_sdk.protocol.messages import Message, ToolCall
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from .thinking import Thinking


@dataclass(frozen=True, slots=True)
class Answer:
    model_id: str
    text: str
    reasoning: str
    media: tuple[MediaElement, ...]
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    metadata: dict[str, Any] | None
    """Metadata that the model must receive again together with its tool calls."""
    counted: int
    """Tokens of the prompt as counted by the provider."""
    estimated: int

    @property
    def says_something(self) -> bool:
        return bool(self.text.strip() or self.media)

    @property
    def is_nothing(self) -> bool:
        return not self.says_something and not self.tool_calls

    def without_calls(self) -> "Answer":
        return replace(self, tool_calls=())

    def for_model(self) -> Message:
        """Returns the message for the next request; with tool calls it has the reasoning, which some models require."""
        calls = list(self.tool_calls) or None
        thought = self.reasoning if calls else None
        told = self.metadata if calls else None
        return Message(role="assistant", content=self.text, tool_calls=calls, reasoning=thought or None, metadata=told)

    def content(self) -> str | list[ContentElement]:
        if not self.media:
            return self.text
        return [*([TextElement(text=self.text)] if self.text else []), *self.media]


class Writing:
    """Collects the fragments of a reply; leading white space is dropped, so that the deltas equal the final text."""

    def __init__(self, growing: bool, show_thinking: bool) -> None:
        self._growing = growing
        self._show_thinking = show_thinking
        self._marks = Thinking()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._media: list[MediaElement] = []
        self._calls: list[ToolCall] = []
        self._finish_reason = "stop"
        self._metadata: dict[str, Any] | None = None
        self._usage = Usage()

    @property
    def shown(self) -> bool:
        return self._growing and bool(self._text)

    def take(self, message: Message, usage: Usage | None, finish_reason: str | None) -> list[Result]:
        """Adds a fragment; returns the results that users may see of it."""
        self._usage = usage or self._usage
        self._finish_reason = finish_reason or self._finish_reason
        self._metadata = message.metadata or self._metadata
        self._calls += [call for call in message.tool_calls or () if call not in self._calls]
        if not isinstance(message.content, str):
            self._media += [each for each in message.content if isinstance(each, MediaElement)]
        said, thought = self._marks.feed(text) if (text := plain_text(message.content)) else ("", "")
        return self._written(said, (message.reasoning or "") + thought)

    def end(self) -> list[Result]:
        return self._written(*self._marks.end())

    def answer(self, model_id: str, estimated: int) -> Answer:
        return Answer(
            model_id,
            "".join(self._text),
            "".join(self._reasoning),
            tuple(self._media),
            tuple(self._calls),
            self._finish_reason,
            self._metadata,
            self._usage.prompt_tokens,
            estimated,
        )

    def _written(self, said: str, thought: str) -> list[Result]:
        seen: list[Result] = []
        if thought:
            self._reasoning.append(thought)
            seen += [results.thinking(thought)] if self._show_thinking else []
        if words := said if self._text else said.lstrip():
            self._text.append(words)
            seen.append(results.delta(words))
        return seen if self._growing else []
