"""Resolves and stores the files of a run's messages: files it created before, files it names, and files inside a
message.

The resulting message is the one that is stored and shown: references instead of content, and for a text that is too
long a preview with the whole text as a file. Bytes are stored here; the recorder commits the rows.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

from pydantic_core import to_json

from parlour.core.delivery.rendering.parts import FULL_TEXT_KEY, strip_reasoning
from parlour.core.message_policy.long_texts import LongTextForm
from parlour.core.message_policy.words import split_graphemes
from parlour.core.model.ids import NO_BINDING, NO_CONVERSATION, ArtifactId
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact, ArtifactInfo, ArtifactScope
from parlour.core.store.event_attachments import MEDIA_TYPES
from parlour_sdk.protocol.content import says_something
from parlour_sdk.protocol.limits import RESULT_BYTES, TRANSCRIPT_TEXT_BYTES
from parlour_sdk.protocol.rules.results import truncate_message
from parlour_sdk.values import dataclass

from .results import FileResult
from .session import RunSession

ArtifactRefData = dict[str, Any]
LONG_TEXT_NAME = "answer.md"
"""Name of the file that a long text is sent as."""
LONG_TEXT_BEGINNING = 200
"""Characters of a long text that are shown beside its file."""
EMPTY_MESSAGE_WARNING = "a completed message is dropped: there is nothing in it that people could see"


@dataclass(slots=True)
class MessageWithFiles:
    """A message as it is shown, all files that belong to it, and the artifacts of those that are new."""

    message: dict[str, Any]
    text: str
    refs: list[ArtifactRefData] = field(default_factory=list)
    new_artifacts: list[Artifact] = field(default_factory=list)
    long_text_sent_as: str = ""
    """The form in which its text is sent because it is long; empty if it is sent as text."""

    @property
    def is_blank(self) -> bool:
        """True if users would see nothing of it: no text besides reasoning, no file, no mention."""
        if says_something(strip_reasoning(self.text)):
            return False
        content = self.message.get("content", "")
        return not self.refs and all(each["type"] == "text" for each in content if not isinstance(content, str))


def readable_scope(session: RunSession) -> ArtifactScope:
    """Returns the scope of artifacts that the run may read."""
    envelope = session.event.envelope
    return ArtifactScope(
        envelope.workspace_id,
        envelope.bot_id,
        session.event.conversation_id,
        envelope.thread_id,
        session.run_id,
        session.grant.runner_id,
        session.binding.binding_id,
    )


def owned_scope(session: RunSession) -> ArtifactScope:
    """Returns the scope of artifacts that the run creates; those of a rerun belong to the rerun only."""
    scope = readable_scope(session)
    return scope if session.dry_run is None else replace(scope, conversation_id=NO_CONVERSATION, binding_id=NO_BINDING)


class RunAttachments:
    """Resolves and stores the files of one run."""

    def __init__(self, artifacts: ArtifactService, session: RunSession, warn: Callable[[str], None]) -> None:
        self._artifacts = artifacts
        self._session = session
        self._warn = warn
        self._pending_refs: list[ArtifactRefData] = []
        """References to files created since the last completed message."""

    def resume(self, pending: list[ArtifactRefData]) -> None:
        self._pending_refs = list(pending)

    async def register(self, effect: FileResult) -> Artifact | None:
        """Stores or looks up the file, which goes with the next message. Returns None if that is not possible."""
        data = effect.data
        try:
            if effect.content is None:
                artifact = await self._artifacts.get_visible(
                    ArtifactId(data.artifact_id or ""), readable_scope(self._session)
                )
            else:
                info = ArtifactInfo(
                    data.artifact_type, data.name or "", data.mime_type or "", metadata=data.metadata or {}
                )
                upload = await self._artifacts.start_upload()
                await upload.write(effect.content)
                artifact = await self._artifacts.finish_upload(
                    upload, info, owned_scope(self._session), sha256=data.sha256 or ""
                )
        except ProviderFailed as failure:
            self._warn(f"result {effect.sequence} (artifact.created) is dropped: {failure.message}")
            return None
        self._pending_refs.append(artifact.to_ref())
        return artifact

    def discard_pending(self) -> None:
        """Discards the files that would go with the next message."""
        self._pending_refs = []

    async def attach(
        self, message: dict[str, Any], text: str, long_text: LongTextForm | None = None
    ) -> MessageWithFiles:
        """Returns the message with its files resolved and stored. A long text is sent in the form of `long_text`."""
        if long_text is not None and len(split_graphemes(text)) > long_text.over:
            return await self._in_form(message, text, long_text)
        content = message.get("content", "")
        self._pending_refs += self._session.created_files
        self._session.created_files = []
        if not self._pending_refs and isinstance(content, str) and "artifact_refs" not in message:
            max_encoded_bytes = len(text) * 4
            if max_encoded_bytes <= TRANSCRIPT_TEXT_BYTES:
                return MessageWithFiles(message, text)
        result = MessageWithFiles(dict(message), text)
        if isinstance(content, list):
            result.message["content"] = await self._elements(content, result)
        named_refs = [
            await self._find_ref(ArtifactId(str(ref["artifact_id"]))) for ref in message.get("artifact_refs") or ()
        ]
        refs = [*self._pending_refs, *(ref for ref in named_refs if ref)]
        self._pending_refs = []
        await self._shorten(result, refs)
        refs_by_id = {ref["artifact_id"]: ref for ref in refs}
        result.message.pop("artifact_refs", None)
        if refs_by_id:
            result.message["artifact_refs"] = list(refs_by_id.values())
        result.refs = list({**refs_by_id, **{ref["artifact_id"]: ref for ref in result.refs}}.values())
        return result

    async def _in_form(self, message: dict[str, Any], text: str, form: LongTextForm) -> MessageWithFiles:
        reply = await self.attach(message, text)
        if "cut" in (reply.message.get("metadata") or {}):
            return replace(reply, long_text_sent_as="file")  # it is a file already
        if form.shape == "forward":
            return replace(reply, long_text_sent_as="forward")  # the composer makes it, part by part
        if form.shape == "image" and await self._add_pictures(reply, await form.pictures.draw(text)):
            return replace(reply, long_text_sent_as="image")
        return await self._as_file(reply, text)

    async def _add_pictures(self, reply: MessageWithFiles, pictures: Sequence[bytes]) -> bool:
        """Replaces the text of a message by pictures of it. Returns False if there are none, or one can't be stored."""
        artifacts: list[Artifact] = []
        for number, picture in enumerate(pictures, 1):
            info = ArtifactInfo("image", f"answer-{number}.png", "image/png")
            artifact = await self._store_or_warn(picture, info, reply)
            if artifact is None:
                return False
            artifacts.append(artifact)
        content = reply.message["content"]
        others = [each for each in content if each.get("type") != "text"] if isinstance(content, list) else []
        drawn = [{"type": "image", "name": each.info.name, **_artifact_fields(each)} for each in artifacts]
        if drawn:
            reply.message["content"] = [*drawn, *others]
        return bool(drawn)

    async def _as_file(self, reply: MessageWithFiles, text: str) -> MessageWithFiles:
        """Returns the message with its text as a file, and the beginning of it as the text."""
        info = ArtifactInfo("text", LONG_TEXT_NAME, "text/markdown")
        artifact = await self._store_or_warn(text.encode(errors="replace"), info, reply)
        if artifact is None:
            return reply
        beginning = "".join(split_graphemes(text)[:LONG_TEXT_BEGINNING]).rstrip()
        content = reply.message["content"]
        others = [each for each in content if each.get("type") != "text"] if isinstance(content, list) else []
        shown = f"{beginning} …"
        reply.message["content"] = [{"type": "text", "text": shown}, *others] if others else shown
        reply.message["artifact_refs"] = [artifact.to_ref(), *(reply.message.get("artifact_refs") or ())]
        return replace(reply, long_text_sent_as="file")

    async def _shorten(self, result: MessageWithFiles, refs: list[ArtifactRefData]) -> None:
        """Stores a text as a file if it is too long for the transcript, and shortens it if it is too long to be
        shown.
        """
        encoded = result.text.encode(errors="replace")
        if len(encoded) <= TRANSCRIPT_TEXT_BYTES:
            return
        full_text = await self._store_or_warn(encoded, ArtifactInfo("text", "message.txt", "text/plain"), result)
        text, truncated = truncate_message(result.text)
        if not truncated:
            return
        self._warn("a message is longer than may be shown; it is kept whole as an artifact")
        content = result.message["content"]
        other_elements = [each for each in content if each.get("type") != "text"] if isinstance(content, list) else []
        result.message["content"] = [{"type": "text", "text": text}, *other_elements] if other_elements else text
        metadata = {**(result.message.get("metadata") or {}), "cut": True}
        result.text = text
        if full_text is not None:
            metadata[FULL_TEXT_KEY] = full_text.artifact_id
            refs.append(full_text.to_ref())
        result.message["metadata"] = metadata

    async def _elements(self, elements: list[Any], result: MessageWithFiles) -> list[Any]:
        resolved = [await self._element(element, result) for element in elements]
        return [element for element in resolved if element is not None]

    async def _element(self, element: dict[str, Any], result: MessageWithFiles) -> dict[str, Any] | None:
        if element.get("type") == "quote":
            return {**element, "contents": await self._elements(element.get("contents", []), result)}
        if element.get("type") == "json":
            return await self._value(element, result)
        if element.get("type") not in MEDIA_TYPES or "url" in element:
            return element
        if "artifact_id" in element:
            ref = await self._find_ref(element["artifact_id"])
            result.refs += [ref] if ref else []
            return element if ref else None
        fields = {name: value for name, value in element.items() if name != "content_base64"}
        artifact = await self._store_inline(element, result)
        if artifact is None:
            return None
        return {**fields, **_artifact_fields(artifact)}

    async def _value(self, element: dict[str, Any], result: MessageWithFiles) -> dict[str, Any] | None:
        """Replaces a JSON value that is too large for a message by a file."""
        content = to_json(element.get("value"))
        if len(content) <= RESULT_BYTES:
            return element
        info = ArtifactInfo("json", "value.json", "application/json")
        artifact = await self._store_or_warn(content, info, result)
        return None if artifact is None else {"type": "file", "name": "value.json", **_artifact_fields(artifact)}

    async def _store_inline(self, element: dict[str, Any], result: MessageWithFiles) -> Artifact | None:
        try:
            content = base64.b64decode(element["content_base64"], validate=True)
        except (binascii.Error, ValueError):
            self._warn(f"an element of type {element['type']} is dropped: content_base64 is not base64")
            return None
        info = ArtifactInfo(element["type"], element.get("name") or "", element.get("mime_type") or "")
        return await self._store_or_warn(content, info, result)

    async def _store_or_warn(self, content: bytes, info: ArtifactInfo, result: MessageWithFiles) -> Artifact | None:
        try:
            artifact = await self._artifacts.store(content, info, owned_scope(self._session))
        except ProviderFailed as failure:
            self._warn(f"a file of a message is not kept: {failure.message}")
            return None
        result.new_artifacts.append(artifact)
        result.refs.append(artifact.to_ref())
        return artifact

    async def _find_ref(self, artifact_id: ArtifactId) -> ArtifactRefData | None:
        try:
            return (await self._artifacts.get_visible(artifact_id, readable_scope(self._session))).to_ref()
        except ProviderFailed as failure:
            self._warn(f"a message names a file that it can't have: {failure.message}")
            return None


def _artifact_fields(artifact: Artifact) -> dict[str, Any]:
    mime_type = artifact.info.mime_type
    return {"mime_type": mime_type, "size_bytes": artifact.size_bytes, "artifact_id": artifact.artifact_id}
