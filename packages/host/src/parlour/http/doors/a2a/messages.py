"""Messages and files of A2A, read from both versions and written in 1.0."""

import base64
from collections.abc import Mapping
from typing import Any

from parlour.core.model.ids import ArtifactId
from parlour.core.store.artifact_service import ArtifactService

from ..answers import file_refs
from ..frames import message_text
from .errors import CONTENT_NOT_SUPPORTED, A2aProblem, invalid

MAX_RAW_BYTES = 1024 * 1024
"""Size up to which a file is part of an answer; a larger one is a link."""
MAX_PARTS = 50
_KINDS = ("image", "audio", "video")


def event_input(message: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the input of the event for a message of a client."""
    parts = message.get("parts")
    if not isinstance(parts, list) or not 0 < len(parts) <= MAX_PARTS:
        raise invalid("message.parts", f"a message needs 1 to {MAX_PARTS} parts")
    texts: list[str] = []
    contents: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        if not isinstance(part, dict):
            raise invalid(f"message.parts.{number}", "it must be an object")
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("data") is not None:
            contents.append({"type": "json", "value": part["data"]})
        else:
            contents.append(_file(part, number))
    text = "\n".join(texts)
    if not text.strip() and not contents:
        raise invalid("message.parts", "the message says nothing")
    own = [{"type": "text", "text": text}] if text else []
    return {"text": text, "contents": [*own, *contents]} if contents else {"text": text}


def _file(part: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Returns a file of either version: its fields are in the part, or in its `file`."""
    inner = part["file"] if isinstance(part.get("file"), dict) else part
    mime_type = str(inner.get("mediaType") or inner.get("mimeType") or "application/octet-stream")
    name = inner.get("filename") or inner.get("name")
    kind = mime_type.partition("/")[0]
    media: dict[str, Any] = {"type": kind if kind in _KINDS else "file", "mime_type": mime_type}
    if isinstance(name, str) and name:
        media["name"] = name
    raw, url = inner.get("raw") or inner.get("bytes"), inner.get("url") or inner.get("uri")
    if isinstance(raw, str):
        return {**media, "content_base64": raw}
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return {**media, "url": url}
    message = f"message.parts.{number}: a part must have text, data, or a file as raw or url"
    raise A2aProblem(CONTENT_NOT_SUPPORTED, "content_not_supported", message)


class MessageParts:
    """Writes the messages of agents as parts."""

    def __init__(self, artifacts: ArtifactService) -> None:
        self._artifacts = artifacts

    async def parts(self, message: Mapping[str, Any], address: str) -> list[dict[str, Any]]:
        text = message_text(message)
        parts: list[dict[str, Any]] = [{"text": text}] if text else []
        return [*parts, *await self.files(message, address)]

    async def files(self, message: Mapping[str, Any], address: str) -> list[dict[str, Any]]:
        return [await self._part(ref, address) for ref in file_refs(message)]

    async def _part(self, ref: Mapping[str, Any], address: str) -> dict[str, Any]:
        artifact = await self._artifacts.get(ArtifactId(ref["artifact_id"]))
        size = ref.get("size_bytes") or 0
        fields = {"mediaType": ref.get("mime_type") or "application/octet-stream"}
        if ref.get("name"):
            fields["filename"] = ref["name"]
        if artifact is not None and 0 < size <= MAX_RAW_BYTES:
            return {**fields, "raw": base64.b64encode(await self._artifacts.read(artifact, 0, size)).decode()}
        return {**fields, "url": f"{address}/api/v1/artifacts/{ref['artifact_id']}/content"}
