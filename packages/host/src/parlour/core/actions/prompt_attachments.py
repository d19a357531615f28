"""Inlines the files of a prompt: replaces each artifact id that a runner named by the artifact's content."""

import base64
from collections.abc import Sequence

from parlour.core.model.ids import ArtifactId
from parlour.core.model.providers import Documents, ProviderFailed
from parlour.core.runs.attachments import readable_scope
from parlour.core.runs.document_texts import excerpt, read_document
from parlour.core.runs.session import RunSession
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact
from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.text_files import MAX_INLINE_BYTES, is_document, is_inline_text

MAX_FILE_BYTES = 10 * 1024 * 1024
"""Maximum size in bytes of one file of a prompt."""
MAX_PROMPT_FILE_BYTES = 32 * 1024 * 1024
"""Maximum size in bytes of all files of a prompt together."""


class PromptAttachments:
    """Puts the content of artifacts into model requests."""

    def __init__(self, artifacts: ArtifactService, documents: Documents) -> None:
        self._artifacts = artifacts
        self._documents = documents

    async def inline(self, session: RunSession | None, request: InvokeModel) -> InvokeModel:
        """Returns the request with the content of its files. Outside a run no artifact is visible, so none is found."""
        if not any(_names_files(each.content) for each in request.messages):
            return request
        remaining_bytes = MAX_PROMPT_FILE_BYTES
        messages: list[Message] = []
        for message in request.messages:
            if _names_files(message.content):
                elements: list[object] = []
                for each in message.content:
                    elements.append(await self._element(session, each, remaining_bytes))
                    remaining_bytes -= _content_bytes(elements[-1])
                message = message.model_copy(update={"content": elements})
            messages.append(message)
        return request.model_copy(update={"messages": messages})

    async def _element(
        self, session: RunSession | None, element: "str | ContentElement", remaining_bytes: int
    ) -> object:
        if not isinstance(element, MediaElement) or element.artifact_id is None:
            return element
        if session is None:
            raise ProviderFailed("not_found", f"there is no artifact '{element.artifact_id[:64]}'")
        artifact = await self._artifacts.get_visible(ArtifactId(element.artifact_id), readable_scope(session))
        try:
            artifact = await self._artifacts.ensure_local(artifact)
        except ProviderFailed as failure:
            if artifact.location == "object":
                raise
            # The file is still behind a link, and links expire: the model gets a note instead.
            return TextElement(text=f"[{element.type}{_name_suffix(element)}; {failure.message}]")
        if element.text_bytes is not None and is_document(element):
            return await self._document(element, artifact)
        if artifact.size_bytes > min(MAX_FILE_BYTES, remaining_bytes):
            message = f"artifact '{artifact.artifact_id}' has {artifact.size_bytes} bytes"
            limits = f"a model is given {MAX_FILE_BYTES} of a file and {MAX_PROMPT_FILE_BYTES} of all together"
            raise ProviderFailed("payload_too_large", f"{message}; {limits}")
        content = await self._artifacts.read(artifact, 0, artifact.size_bytes)
        named = element.model_copy(
            update={
                "mime_type": artifact.info.mime_type or element.mime_type,
                "name": element.name or artifact.info.name,
                "size_bytes": artifact.size_bytes,
            }
        )
        if is_inline_text(named) and (text := _decoded(content)) is not None:
            return _as_text(named, text.encode())
        return element.model_copy(
            update={
                "artifact_id": None,
                "content_base64": base64.b64encode(content).decode(),
                "mime_type": artifact.info.mime_type or element.mime_type,
                "name": element.name or artifact.info.name,
            }
        )

    async def _document(self, element: MediaElement, artifact: Artifact) -> TextElement:
        """Returns the text of a document, or a note with the reason why it can't be read."""
        try:
            content = await read_document(self._documents, self._artifacts, artifact)
        except ProviderFailed as failure:
            details = f"{element.name or artifact.info.name}, {artifact.info.mime_type}, {artifact.size_bytes} bytes"
            return TextElement(text=f"\n[file: {details}; {failure.message}]")
        name = element.name or artifact.info.name
        return _as_text(element.model_copy(update={"name": name, "size_bytes": artifact.size_bytes}), content)


def _as_text(element: MediaElement, content: bytes) -> TextElement:
    """Returns the beginning of a text, and where it goes on; `text_bytes` of the element limits it."""
    title = element.name or f"artifact {element.artifact_id}"
    limit = max(0, min(MAX_INLINE_BYTES, element.text_bytes or MAX_INLINE_BYTES))
    text = excerpt(content, 0, limit)
    end = len(text.encode())
    if end >= len(content):
        return TextElement(text=f"\n[file: {title}]\n{text}\n[end of file: {title}]\n")
    where = f"artifact {element.artifact_id}, next offset {end} of {len(content)}"
    return TextElement(text=f"\n[file: {title}]\n{text}\n[the file goes on: {where}; read on with artifact.read]\n")


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _content_bytes(element: object) -> int:
    """Returns the size of the content that an element has inline."""
    encoded = (isinstance(element, MediaElement) and element.content_base64) or ""
    return len(encoded) * 3 // 4 - encoded.count("=", -2)


def _name_suffix(element: MediaElement) -> str:
    return f": {element.name}" if element.name else ""


def _names_files(content: "str | Sequence[ContentElement]") -> bool:
    if isinstance(content, str):
        return False
    return any(isinstance(each, MediaElement) and each.artifact_id is not None for each in content)
