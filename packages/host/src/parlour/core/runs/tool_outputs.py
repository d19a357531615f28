"""Limits the output of a tool: the caller gets all of it, or a preview with the whole stored as an artifact. Files
inside it that are not small become artifacts of their own.
"""

import base64
import binascii

from pydantic_core import to_json

from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.store import ledger
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact, ArtifactInfo
from parlour_sdk.protocol.content import ArtifactRef, ContentElement, MediaElement, TextElement, plain_text
from parlour_sdk.protocol.limits import INLINE_BINARY_BYTES, RESULT_BYTES
from parlour_sdk.protocol.tools import ToolOutcome

from .attachments import owned_scope
from .session import RunSession

PREVIEW_BYTES = 16 * 1024
"""Bytes of the text in a preview, its beginning and its end."""
PREVIEW_END_BYTES = 5 * 1024
"""Bytes of them from the end of the text."""
MAX_INLINE_BASE64_CHARACTERS = (INLINE_BINARY_BYTES + 2) // 3 * 4
"""Maximum base64 characters of a file that stays inside the output."""


class ToolOutputLimiter:
    """Limits tool outputs and stores the rest as artifacts of the calling run."""

    def __init__(self, artifacts: ArtifactService, journal: Journal, clock: Clock) -> None:
        self._artifacts = artifacts
        self._journal = journal
        self._clock = clock

    async def limit(self, session: RunSession | None, tool_name: str, outcome: ToolOutcome) -> ToolOutcome:
        """Returns the output within its limits. Outside a run the rest is not stored, because no run would own it."""
        if any(_is_large(element) for element in outcome.content):
            content = [await self._externalize(session, element) for element in outcome.content]
            outcome = outcome.model_copy(update={"content": content})
        if len(to_json(outcome.content)) <= RESULT_BYTES:
            return outcome
        content = [TextElement(text=_preview(plain_text(outcome.content).encode(errors="replace")))]
        truncated = outcome.model_copy(update={"content": content, "truncated": True})
        if session is None:
            return truncated
        ref = await self._store_output(session, tool_name, outcome)
        return truncated.model_copy(update={"artifact_refs": [*outcome.artifact_refs, ref]})

    async def _store_output(self, session: RunSession, tool_name: str, outcome: ToolOutcome) -> ArtifactRef:
        info = ArtifactInfo("tool_result", *_file_name_and_type(tool_name, outcome), source="tool")
        return ArtifactRef.model_validate((await self._store(session, _encode_output(outcome), info)).to_ref())

    async def _externalize(self, session: RunSession | None, element: ContentElement) -> ContentElement:
        """Replaces a large file by a reference if there is a run that can own it."""
        if not isinstance(element, MediaElement) or not _is_large(element):
            return element
        content = _decoded(element.content_base64 or "")
        if content is None or session is None:
            return TextElement(text=f"[a file of type {element.type} was left out]")
        info = ArtifactInfo(element.type, element.name or "", element.mime_type or "", source="tool")
        artifact = await self._store(session, content, info)
        return MediaElement(
            type=element.type,
            name=element.name,
            mime_type=artifact.info.mime_type,
            size_bytes=artifact.size_bytes,
            artifact_id=artifact.artifact_id,
        )

    async def _store(self, session: RunSession, content: bytes, info: ArtifactInfo) -> Artifact:
        artifact = await self._artifacts.store(content, info, owned_scope(session))
        progress = ledger.update_progress(session.run_id, self._clock.now())
        await self._journal.commit(Unit("tool.keep", (progress, artifact.insert())))
        return artifact


def _preview(text: bytes) -> str:
    """Returns the beginning and the end of a text, with a note of what is missing between them."""
    if len(text) <= PREVIEW_BYTES:
        return text.decode(errors="ignore")
    head, tail = text[: PREVIEW_BYTES - PREVIEW_END_BYTES], text[-PREVIEW_END_BYTES:]
    left_out = f"\n... ({len(text) - PREVIEW_BYTES} of {len(text)} bytes left out) ...\n"
    return f"{head.decode(errors='ignore')}{left_out}{tail.decode(errors='ignore')}"


def _is_large(element: ContentElement) -> bool:
    return isinstance(element, MediaElement) and len(element.content_base64 or "") > MAX_INLINE_BASE64_CHARACTERS


def _decoded(content: str) -> bytes | None:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        return None


def _only_text(outcome: ToolOutcome) -> bool:
    return all(isinstance(element, TextElement) for element in outcome.content)


def _file_name_and_type(tool_name: str, outcome: ToolOutcome) -> tuple[str, str]:
    if _only_text(outcome):
        return f"{tool_name}.txt", "text/plain"
    return f"{tool_name}.json", "application/json"


def _encode_output(outcome: ToolOutcome) -> bytes:
    """Returns a text as it is, and anything else as JSON of its elements."""
    return plain_text(outcome.content).encode(errors="replace") if _only_text(outcome) else to_json(outcome.content)
