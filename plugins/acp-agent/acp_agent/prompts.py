"""Builds the blocks of a prompt from a message: text, pictures and files."""

import base64
import mimetypes
import re
from typing import Any

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.content import AgentInput, MediaElement, QuoteElement, TextElement

from .session import HarnessSession

MAX_IMAGE_BYTES = 4 * 1024 * 1024
MAX_FILE_BYTES = 32 * 1024 * 1024
INPUT_FOLDER = ".parlour/in"


async def build_prompt(api: AgentRunAPI, given: AgentInput, session: HarnessSession) -> list[dict[str, Any]]:
    """Returns the blocks of a message. A file that the harness can't take as a block is put into its folder."""
    blocks: list[dict[str, Any]] = []
    text = given.text or "".join(each.text for each in given.contents if isinstance(each, TextElement))
    quotes = [each for each in given.contents if isinstance(each, QuoteElement)]
    for quote in quotes:
        quoted = "".join(each.text for each in quote.contents if isinstance(each, TextElement))
        if quoted:
            text = "\n".join(f"> {line}" for line in quoted.splitlines()) + f"\n{text}"
    if text.strip():
        blocks.append({"type": "text", "text": text})
    media = [each for each in given.contents if isinstance(each, MediaElement)]
    for number, each in enumerate(media):
        blocks.append(await _media_block(api, each, number, session))
    return blocks


async def _media_block(api: AgentRunAPI, media: MediaElement, number: int, session: HarnessSession) -> dict[str, Any]:
    mime_type = media.mime_type or mimetypes.guess_type(media.name or "")[0] or "application/octet-stream"
    name = _file_name(media, number, mime_type)
    if media.url is not None:
        return {"type": "resource_link", "uri": media.url, "name": name, "mimeType": mime_type}
    content = await _content(api, media)
    declared = session.capabilities.get("promptCapabilities") or {}
    for kind in ("image", "audio"):
        if mime_type.startswith(f"{kind}/") and declared.get(kind) and len(content) <= MAX_IMAGE_BYTES:
            return {"type": kind, "data": base64.b64encode(content).decode(), "mimeType": mime_type}
    await session.process.write(content, file=f"{INPUT_FOLDER}/{name}")
    path = f"{session.process.working_directory}/{INPUT_FOLDER}/{name}"
    return {"type": "resource_link", "uri": f"file://{path}", "name": name, "mimeType": mime_type}


async def _content(api: AgentRunAPI, media: MediaElement) -> bytes:
    if media.content_base64 is not None:
        return base64.b64decode(media.content_base64)
    content = bytearray()
    async for chunk in api.artifacts.stream(media.artifact_id or ""):
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            break
    return bytes(content[:MAX_FILE_BYTES])


def _file_name(media: MediaElement, number: int, mime_type: str) -> str:
    """Returns a name that no earlier file of the conversation has."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", media.name or "")[-80:].lstrip(".")
    unique = (media.artifact_id or str(number))[-8:]
    suffix = "" if plain else mimetypes.guess_extension(mime_type) or ".bin"
    return f"{unique}-{plain or 'file'}{suffix}"
