"""The updates that a service's reader derives from native events; the runner turns them into results."""

from dataclasses import field
from typing import Any, Literal, TypeAlias

from parlour_sdk.protocol.usage import Usage

from ...values import dataclass


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next fragment of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next fragment of the agent's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The whole text of the current message; it replaces the fragments so far, and following ones are added to it."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The end of the current message; what follows belongs to another one."""


@dataclass(frozen=True, slots=True)
class ToolStart:
    """The service calls a tool of its own. A start with a known id is ignored, since services repeat it."""

    id: str
    name: str
    parameters: Any = None


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A tool of the service has answered or failed."""

    id: str
    name: str
    result: Any = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """A step of a workflow has started, completed or failed."""

    id: str
    name: str
    status: Literal["started", "completed", "failed"]
    detail: Any = None


@dataclass(frozen=True, slots=True)
class SessionNamed:
    """The service's id of the conversation, which following messages are sent with."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class TaskNamed:
    """The service's id of this answer, which its stop call needs."""

    task_id: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The tokens that the answer used; the last report counts."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Citations:
    """Sources of the answer, each with at least a title or name; they go into the message's metadata."""

    items: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Questions that the user may ask next; they go into the message's metadata."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """A file of the answer: its content, or the URL it is downloaded from, which may be relative to the address.

    A file with a known id, or without an id a known URL, is ignored, since services name files more than once.
    """

    name: str
    url: str | None = None
    content: bytes | None = None
    mime_type: str | None = None
    kind: str = "file"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """The service waits for the user. The question is the answer; the next message continues the same session.

    `pending` is kept in state and is `turn.pending` of the next run.
    """

    text: str
    options: tuple[str, ...] = ()
    pending: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerMetadata:
    """Values for the metadata of the message."""

    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The service has ended its answer; a stream that ends without it was cut."""


Update: TypeAlias = (
    AnswerDelta
    | ThinkingDelta
    | AnswerText
    | AnswerEnd
    | ToolStart
    | ToolEnd
    | NodeProgress
    | SessionNamed
    | TaskNamed
    | UsageReport
    | Citations
    | Suggestions
    | AnswerFile
    | Question
    | AnswerMetadata
    | StreamEnd
)
