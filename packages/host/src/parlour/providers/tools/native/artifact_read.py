"""Tool that reads a file of the conversation as text, in pieces. The core decides which files a run may see."""

from typing import Any, Literal

from parlour.core.model.providers import CallContext, Documents, ProviderFailed
from parlour.core.runs.attachments import readable_scope
from parlour.core.runs.document_texts import excerpt, read_document
from parlour.core.runs.session_registry import RunSessions
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.text_files import is_document

from ..source import OfferedTool, error_outcome, text_outcome
from .tools import PROVIDER

PIECE_BYTES = 24_000
"""Bytes of a piece. Agents pass at most 32,000 characters of a tool's output on, so that a piece is never cut again."""
MIN_PIECE_BYTES = 4
MAX_PARTIAL_CHARACTER_BYTES = 3
"""Maximum number of bytes that may be missing from a character at the end of a piece."""


class ArtifactReadTool:
    definition = OfferedTool(
        "artifact.read",
        "native",
        PROVIDER,
        "Reads a file of this conversation (an attachment, also a document such as a PDF or Word file, or the whole of "
        "an answer that was cut) as text.",
        {
            "type": "object",
            "properties": {
                "artifact_id": {"type": "string"},
                "offset": {
                    "type": "integer",
                    "description": "Where to begin, in bytes; the end of a piece names the next.",
                },
                "limit": {"type": "integer", "description": f"Bytes to read, at most and usually {PIECE_BYTES}."},
            },
            "required": ["artifact_id"],
            "additionalProperties": False,
        },
        read_only=True,
    )

    def __init__(self, artifacts: ArtifactService, documents: Documents, sessions: RunSessions) -> None:
        self._artifacts = artifacts
        self._documents = documents
        self._sessions = sessions

    async def call(self, context: CallContext, parameters: dict[str, Any]) -> ToolOutcome:
        session = self._sessions.get(context.run_id)
        if session is None:
            raise ProviderFailed("unauthorized", "files belong to conversations: only a run can read them")
        offset, limit = int(parameters.get("offset", 0)), int(parameters.get("limit", PIECE_BYTES))
        if offset < 0:
            return error_outcome("offset: it begins at 0")
        try:
            visible = await self._artifacts.get_visible(parameters["artifact_id"], readable_scope(session))
            artifact = await self._artifacts.ensure_local(visible)
        except ProviderFailed as failure:
            return error_outcome(failure.message)
        length = max(MIN_PIECE_BYTES, min(limit, PIECE_BYTES))
        if is_document(_element(artifact, "file")):
            return await self._document(artifact, offset, length)
        text = _text(await self._artifacts.read(artifact, offset, length))
        if text is None:
            return _media_outcome(artifact)
        return text_outcome(text + _remainder_text(artifact.size_bytes, offset + len(text.encode())))

    async def _document(self, artifact: Artifact, offset: int, length: int) -> ToolOutcome:
        try:
            content = await read_document(self._documents, self._artifacts, artifact)
        except ProviderFailed as failure:
            return error_outcome(failure.message)
        text = excerpt(content, offset, length)
        return text_outcome(text + _remainder_text(len(content), offset + len(text.encode())))


def _text(piece: bytes) -> str | None:
    """Decodes a piece without an incomplete last character; None if it is not text."""
    for missing in range(MAX_PARTIAL_CHARACTER_BYTES + 1):
        try:
            return piece[: len(piece) - missing].decode()
        except UnicodeDecodeError:
            continue
    return None


def _remainder_text(size: int, end: int) -> str:
    return "" if end >= size else f"\n[next offset {end} of {size}]"


def _media_outcome(artifact: Artifact) -> ToolOutcome:
    """Returns a picture as media, and an error for other files that are not text."""
    kind = artifact.info.mime_type
    message = f"this is no text but {kind} of {artifact.size_bytes} bytes"
    if not kind.startswith("image/"):
        return error_outcome(message)
    return ToolOutcome(content=[TextElement(text=message), _element(artifact, "image")])


def _element(artifact: Artifact, kind: Literal["image", "file"]) -> MediaElement:
    return MediaElement(
        type=kind,
        name=artifact.info.name or None,
        mime_type=artifact.info.mime_type,
        size_bytes=artifact.size_bytes,
        artifact_id=artifact.artifact_id,
    )
