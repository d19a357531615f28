"""Turns the updates of an answer into results: fragments, complete messages with their metadata, and the end."""

from collections.abc import Iterator
from typing import Any, assert_never

from parlour_sdk import results
from parlour_sdk.protocol.content import says_something
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from ..reasoning_filter import ReasoningFilter
from . import updates
from .errors import ServiceFailure
from .session import ExternalSession

MAX_ANSWER_CHARACTERS = 2 * 1024 * 1024


class ReplyWriter:
    """Collects one answer. It does no input or output; files are fetched by the exchange."""

    def __init__(self, session: ExternalSession) -> None:
        self._session = session
        self._fragments: list[str] = []
        self._thinking: list[str] = []
        self._marks = ReasoningFilter()
        self._metadata: dict[str, Any] = {}
        self._size = 0
        self._usage: Usage | None = None
        self._has_files = False
        self._started_tools: set[str] = set()
        self._is_message_sent = False
        self.is_shown = False
        """True if a fragment or message was shown."""
        self.is_ended = False
        """True if the service has ended its answer."""

    def write(self, update: updates.Update) -> Iterator[Result]:
        match update:
            case updates.AnswerDelta() | updates.ThinkingDelta() | updates.AnswerText():
                yield from self._write_text(update)
            case updates.AnswerEnd():
                yield from self._complete()
            case updates.ToolStart() if update.id in self._started_tools:
                pass
            case updates.ToolStart():
                self._started_tools.add(update.id)
                yield results.tool_started(update.id, update.name, update.parameters)
            case updates.ToolEnd():
                yield results.tool_completed(update.id, update.name, update.result, update.error)
            case updates.NodeProgress():
                yield _node(update)
            case updates.SessionNamed():
                yield from self._session.name(update.conversation_id)
            case updates.Question():
                yield from self._ask(update)
            case updates.UsageReport():
                self._usage = update.usage
            case updates.Citations(items=()) | updates.Suggestions(texts=()):
                pass
            case updates.Citations():
                self._metadata.setdefault("citations", []).extend(update.items)
            case updates.Suggestions():
                self._metadata["suggestions"] = list(update.texts)
            case updates.AnswerMetadata():
                self._metadata.update(update.values)
            case updates.StreamEnd():
                self.is_ended = True
            case updates.TaskNamed() | updates.AnswerFile():
                pass  # the exchange handles them
            case _:
                assert_never(update)

    def attach(self, file: Result) -> Iterator[Result]:
        """Adds a file to the current message."""
        self._has_files = self.is_shown = True
        yield file

    def add_missing_file(self, name: str) -> None:
        """Notes a file that could not be fetched in the metadata of the message."""
        self._metadata.setdefault("missing_files", []).append(name)

    def finish(self) -> Iterator[Result]:
        """Completes the answer. Raises ServiceFailure if there is none."""
        yield from self._complete()
        if not self._is_message_sent:
            raise ServiceFailure("no_output")
        yield results.finished(usage=self._usage)

    def break_off(self) -> Iterator[Result]:
        """Keeps the text so far as a message that is marked as incomplete."""
        self._metadata["incomplete"] = True
        yield from self._complete()

    def _write_text(self, update: updates.AnswerDelta | updates.ThinkingDelta | updates.AnswerText) -> Iterator[Result]:
        text = update.text
        self._size += len(text)
        if self._size > MAX_ANSWER_CHARACTERS:
            raise ServiceFailure("protocol", f"the answer is longer than {MAX_ANSWER_CHARACTERS:,} characters")
        if isinstance(update, updates.AnswerText):
            marks = ReasoningFilter()
            (text, thinking), (rest, unclosed) = marks.feed(text), marks.end()
            self._fragments = [text + rest]
            if not self._thinking and (thinking or unclosed):
                yield from self._think(thinking + unclosed)
        elif isinstance(update, updates.ThinkingDelta):
            yield from self._think(text)
        else:
            yield from self._say(*self._marks.feed(text))

    def _say(self, text: str, thinking: str) -> Iterator[Result]:
        yield from self._think(thinking)
        if text:
            self._fragments.append(text)
            self.is_shown = True
            yield results.delta(text)

    def _think(self, text: str) -> Iterator[Result]:
        if text:
            self._thinking.append(text)
            yield results.thinking(text)

    def _ask(self, question: updates.Question) -> Iterator[Result]:
        yield from self._complete()
        self._fragments = ["\n".join([question.text, *(f"- {option}" for option in question.options)])]
        self._metadata["question"] = {"options": list(question.options)}
        yield from self._session.ask(question.pending)
        yield from self._complete()

    def _complete(self) -> Iterator[Result]:
        yield from self._say(*self._marks.end())
        self._marks = ReasoningFilter()
        text = "".join(self._fragments)
        is_complete = self._has_files or says_something(text)
        if is_complete:
            if self._session.was_reset:
                self._metadata["session_reset"] = True
            yield results.completed(
                Message(
                    role="assistant",
                    content=text,
                    reasoning="".join(self._thinking) or None,
                    metadata=self._metadata or None,
                )
            )
            self._is_message_sent = self.is_shown = True
            self._metadata, self._has_files = {}, False
            self._thinking.clear()
        self._fragments.clear()


def _node(update: updates.NodeProgress) -> Result:
    if update.status == "started":
        return results.tool_started(update.id, update.name, {"node": True, "detail": update.detail})
    error = str(update.detail or "the step failed") if update.status == "failed" else None
    return results.tool_completed(update.id, update.name, None if error else update.detail, error)
