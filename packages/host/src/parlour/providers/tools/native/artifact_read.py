"""Tool that reads a file of the conversation as text, in pieces. The core decides which files a run may see."""

from typing import Any

from parlour.core.model.providers import Asking, ProviderFailed
from parlour.core.runs.attachments import place_of
from parlour.core.runs.session import Sessions
from parlour.core.store.artifact_service import Artifacts
from parlour.core.store.artifacts import Artifact
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import Offer, refused, told
from .tools import PROVIDER

PIECE_BYTES = 64 * 1024
UNFINISHED = 3
"""Maximum number of bytes that may be missing from a character at the end of a piece."""


class ArtifactRead:
    offer = Offer(
        "artifact.read",
        "native",
        PROVIDER,
        "Reads a file of this conversation (an attachment, or the whole of an answer that was cut) as text.",
        {
            "type": "object",
            "properties": {
                "artifact_id": {"type": "string"},
                "offset": {"type": "integer", "description": f"Where to begin, in bytes; {PIECE_BYTES} come at once."},
            },
            "required": ["artifact_id"],
            "additionalProperties": False,
        },
        read_only=True,
    )

    def __init__(self, artifacts: Artifacts, sessions: Sessions) -> None:
        self._artifacts = artifacts
        self._sessions = sessions

    async def call(self, asking: Asking, parameters: dict[str, Any]) -> ToolOutcome:
        session = self._sessions.get(asking.run_id)
        if session is None:
            raise ProviderFailed("unauthorized", "files belong to conversations: only a run can read them")
        offset = int(parameters.get("offset", 0))
        if offset < 0:
            return refused("offset: it begins at 0")
        try:
            found = await self._artifacts.visible(parameters["artifact_id"], place_of(session))
            artifact = await self._artifacts.present(found)
        except ProviderFailed as failure:
            return refused(failure.message)
        piece = await self._artifacts.read(artifact, offset, PIECE_BYTES)
        text = _text(piece)
        return _shown(artifact) if text is None else told(text + _rest(artifact, offset + len(text.encode())))


def _text(piece: bytes) -> str | None:
    """Decodes a piece without an incomplete last character; None if it is not text."""
    for missing in range(UNFINISHED + 1):
        try:
            return piece[: len(piece) - missing].decode()
        except UnicodeDecodeError:
            continue
    return None


def _rest(artifact: Artifact, end: int) -> str:
    if end >= artifact.size_bytes:
        return ""
    return f"\n[{end} of {artifact.size_bytes} bytes so far; read on with offset {end}]"


def _shown(artifact: Artifact) -> ToolOutcome:
    """Returns a picture as media, and an error for other files that are not text."""
    kind = artifact.description.mime_type
    words = f"this is no text but {kind} of {artifact.size_bytes} bytes"
    if not kind.startswith("image/"):
        return refused(words)
    image = MediaElement(
        type="image",
        name=artifact.description.name or None,
        mime_type=kind,
        size_bytes=artifact.size_bytes,
        artifact_id=artifact.artifact_id,
    )
    return ToolOutcome(content=[TextElement(text=words), image])
