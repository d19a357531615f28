"""Decides what users of a platform see of the texts that a model writes before it calls tools."""

from typing import Literal

from parlour_sdk import results
from parlour_sdk.protocol.content import ContentElement, TextElement
from parlour_sdk.results import Result

InterimMode = Literal["hide", "first", "all"]
SEPARATOR = "\n\n"


class InterimTexts:
    """The texts before tool calls in one run: messages of their own, or, where text is streamed, a part of the answer.

    `hide` leaves them out, `first` shows the first one, `all` shows every one as a message.
    """

    def __init__(self, mode: InterimMode = "all") -> None:
        self._mode = mode
        self._count = 0
        self._streamed = ""

    @property
    def is_separate(self) -> bool:
        """True if the latest text is a message of its own."""
        return self._mode == "all" or (self._mode == "first" and self._count == 1)

    def show(self, text: str, streaming: bool) -> list[Result]:
        """Takes the next text; returns what has to be streamed after it."""
        self._count += 1
        if self.is_separate or not streaming or not text:
            return []
        self._streamed += f"{text}{SEPARATOR}"  # it was already shown, so that the final message begins with it
        return [results.delta(SEPARATOR)]

    def join(self, content: str | list[ContentElement]) -> str | list[ContentElement]:
        """Returns the content of the answer, after the texts that were streamed before it."""
        streamed, self._streamed = self._streamed, ""
        if not streamed:
            return content
        return f"{streamed}{content}" if isinstance(content, str) else [TextElement(text=streamed), *content]
