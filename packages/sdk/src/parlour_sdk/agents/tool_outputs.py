"""Converts a tool's outcome into text and pictures for the model; a long text is stored and shown in part."""

from dataclasses import replace

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.content import MediaElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.tools import ToolOutcome

from ..values import dataclass
from .errors import ends_run
from .excerpts import head_and_tail
from .media import describe
from .user_message import UserMessage

MAX_INLINE_CHARACTERS = 32_000
"""Longest output that the model gets at once; `artifact.read` of the Host gives less than this in one piece."""
PREVIEW_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The output of one tool call for the model."""

    text: str
    is_error: bool = False
    pictures: tuple[MediaElement, ...] = ()


class ToolOutputReader:
    """Reads the outcomes of a run's tool calls, and stores long ones as artifacts."""

    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        self._ctx = ctx
        self._api = api

    async def read(self, tool_name: str, outcome: ToolOutcome) -> ToolOutput:
        """Returns the output; a long text becomes its beginning, its end and the name of the artifact that has all."""
        output = _read(outcome)
        if len(output.text) <= MAX_INLINE_CHARACTERS:
            return output
        artifact_text = await self._store(tool_name, output.text)
        hint = f"the whole is {artifact_text}; read on with artifact.read" if artifact_text else "the rest is lost"
        return replace(output, text=head_and_tail(output.text, PREVIEW_CHARACTERS, hint))

    async def _store(self, tool_name: str, text: str) -> str:
        """Stores the whole text as an artifact; returns its name, or an empty text if the Host can't store it."""
        if not self._ctx.context.available_apis.artifact_create:
            return ""
        content, name = text.encode(errors="replace"), f"{tool_name}.txt"
        try:
            artifact = await self._api.artifacts.create(content, "tool_result", mime_type="text/plain", name=name)
        except AgentAPIException as error:
            if ends_run(error, self._ctx):
                raise
            return ""
        return f"artifact {artifact.artifact_id}"


def _read(outcome: ToolOutcome) -> ToolOutput:
    """Reads the outcome; the text names the artifacts that hold further output."""
    contents = UserMessage.from_contents(outcome.content)
    pictures = tuple(each for each in contents.media if each.type == "image")
    notes = [describe(each) for each in contents.media if each.type != "image"]
    for ref in outcome.artifact_refs:
        artifact_label = "the whole output is" if outcome.truncated else "it also gave"
        hint = "; read on with artifact.read" if outcome.truncated else ""
        notes.append(f"({artifact_label} artifact {ref.artifact_id}{f', {ref.name}' if ref.name else ''}{hint})")
    text = "\n".join(part for part in (contents.text, *notes) if part)
    return ToolOutput(text or ("(see the picture)" if pictures else "(nothing)"), outcome.is_error, pictures)
