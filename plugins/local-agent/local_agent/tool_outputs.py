"""Converts a tool's outcome into text and pictures for the model; a long text is stored and shown in part."""

from dataclasses import dataclass, replace

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.content import MediaElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.tools import ToolOutcome

from . import user_message
from .errors import ends_run
from .media import describe

MAX_INLINE_CHARACTERS = 32_000
PREVIEW_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class ToolOutput:
    text: str
    is_error: bool = False
    pictures: tuple[MediaElement, ...] = ()


class ToolOutputReader:
    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        self._ctx = ctx
        self._api = api

    async def read(self, tool_name: str, given: ToolOutcome) -> ToolOutput:
        output = _read(given)
        if len(output.text) <= MAX_INLINE_CHARACTERS:
            return output
        kept = await self._store(tool_name, output.text)
        whole = f"the whole, {len(output.text)} characters, is {kept}" if kept else "the rest is lost"
        return replace(output, text=f"{output.text[:PREVIEW_CHARACTERS]}\n... ({whole})")

    async def _store(self, tool_name: str, text: str) -> str:
        """Stores the whole text as an artifact; returns its name, or an empty text if the Host can't store it."""
        if not self._ctx.context.available_apis.artifact_create:
            return ""
        content, name = text.encode(errors="replace"), f"{tool_name}.txt"
        try:
            made = await self._api.artifacts.create(content, "tool_result", mime_type="text/plain", name=name)
        except AgentAPIException as error:
            if ends_run(error, self._ctx):
                raise
            return ""
        return f"artifact {made.artifact_id}"


def _read(given: ToolOutcome) -> ToolOutput:
    """Reads the outcome; the text names the artifacts that hold further output."""
    found = user_message.from_contents(given.content)
    pictures = tuple(each for each in found.media if each.type == "image")
    notes = [describe(each) for each in found.media if each.type != "image"]
    for ref in given.artifact_refs:
        whole = "the whole output is" if given.truncated else "it also gave"
        notes.append(f"({whole} artifact {ref.artifact_id}{f', {ref.name}' if ref.name else ''})")
    text = "\n".join(part for part in (found.text, *notes) if part)
    return ToolOutput(text or ("(see the picture)" if pictures else "(nothing)"), given.is_error, pictures)
