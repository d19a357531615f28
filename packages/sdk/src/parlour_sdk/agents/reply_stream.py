"""Builds the reply of a model from its fragments: text, reasoning, media and tool calls."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from parlour_sdk import results
from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement, plain_text
from parlour_sdk.protocol.messages import Message, ToolCall
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from ..values import dataclass
from .reasoning_filter import ReasoningFilter


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete answer of a model."""

    model_id: str
    text: str
    reasoning: str
    media: tuple[MediaElement, ...]
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    metadata: dict[str, Any] | None
    """Metadata that the model must receive again together with its tool calls."""
    counted_tokens: int
    """Tokens of the prompt as counted by the provider."""
    estimated_tokens: int

    @property
    def says_something(self) -> bool:
        """True if users can see something of it."""
        return bool(self.text.strip() or self.media)

    @property
    def is_empty(self) -> bool:
        """True if it has neither content nor tool calls."""
        return not self.says_something and not self.tool_calls

    def without_calls(self) -> "ModelReply":
        """Returns the answer without its tool calls."""
        return replace(self, tool_calls=())

    def joined(self, before: "ModelReply") -> "ModelReply":
        """Returns one answer made of a first part, which was cut, and this continuation of it."""
        return replace(self, text=before.text + self.text, media=(*before.media, *self.media))

    def to_message(self) -> Message:
        """Returns the message for the next request; with tool calls it has the reasoning, which some models require."""
        calls = list(self.tool_calls) or None
        reasoning = self.reasoning if calls else None
        metadata = self.metadata if calls else None
        return Message(
            role="assistant", content=self.text, tool_calls=calls, reasoning=reasoning or None, metadata=metadata
        )

    def content(self) -> str | list[ContentElement]:
        """Returns the content of the message for users."""
        if not self.media:
            return self.text
        return [*([TextElement(text=self.text)] if self.text else []), *self.media]


class ReplyBuilder:
    """Collects the fragments of a reply; leading white space is dropped, so that the deltas equal the final text.

    It stays if the reply `continues` another one.
    """

    def __init__(self, streaming: bool, show_thinking: bool, continues: bool = False) -> None:
        self._continues = continues
        self._streaming = streaming
        self._show_thinking = show_thinking
        self._marks = ReasoningFilter()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._media: list[MediaElement] = []
        self._calls: list[ToolCall] = []
        self._finish_reason = "stop"
        self._metadata: dict[str, Any] | None = None
        self._usage = Usage()

    @property
    def shown(self) -> bool:
        """True if users have already seen a part of the reply."""
        return self._streaming and bool(self._text)

    def add(self, message: Message, usage: Usage | None, finish_reason: str | None) -> list[Result]:
        """Adds a fragment; returns the results that users may see of it."""
        self._usage = usage or self._usage
        self._finish_reason = finish_reason or self._finish_reason
        self._metadata = message.metadata or self._metadata
        self._calls += [call for call in message.tool_calls or () if call not in self._calls]
        if not isinstance(message.content, str):
            self._media += [each for each in message.content if isinstance(each, MediaElement)]
        answer_text, reasoning = self._marks.feed(text) if (text := plain_text(message.content)) else ("", "")
        if self._marks.retracted:
            self._reasoning, self._text = [*self._reasoning, *self._text], []
            self._marks.retracted = False
        return self._append(answer_text, (message.reasoning or "") + reasoning)

    def finish(self) -> list[Result]:
        """Ends the reply; returns the results of text that was held back."""
        results = self._append(*self._marks.end())
        written = [
            ToolCall(id=f"written_{uuid4().hex[:12]}", name=each["name"], arguments=each["arguments"])
            for each in self._marks.calls
        ]
        self._calls += [] if self._calls else written
        return results

    def build(self, model_id: str, estimated: int) -> ModelReply:
        """Builds the reply; `estimated` is the number of tokens of its prompt."""
        return ModelReply(
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

    def _append(self, answer_text: str, reasoning: str) -> list[Result]:
        new_results: list[Result] = []
        if reasoning:
            self._reasoning.append(reasoning)
            new_results += [results.thinking(reasoning)] if self._show_thinking else []
        if new_text := answer_text if self._text or self._continues else answer_text.lstrip():
            self._text.append(new_text)
            new_results.append(results.delta(new_text))
        return new_results if self._streaming else []
