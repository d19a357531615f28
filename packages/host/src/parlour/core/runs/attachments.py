"""Resolves and stores the files of a run's messages: files it created before, files it names, and files inside a
message.

The resulting message is the one that is stored and shown: references instead of content, and for a text that is too
long a preview with the whole text as a file. Bytes are stored here; the recorder commits the rows.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from pydantic_core import to_json

from parlour.core.delivery.rendering.parts import FULL_TEXT_KEY, strip_reasoning
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
EMPTY_MESSAGE_WARNING = "a completed message is dropped: there is nothing in it that people could see"


@dataclass(slots=True)
class MessageWithFiles:
    """A message as it is shown, all files that belong to it, and the artifacts of those that are new."""

    message: dict[str, Any]
    text: str
    refs: list[ArtifactRefData] = field(default_factory=list)
    new_artifacts: list[Artifact] = field(default_factory=list)

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
    place = readable_scope(session)
    return place if session.dry_run is None else replace(place, conversation_id="", binding_id="")


class RunAttachments:
    """Resolves and stores the files of one run."""

    def __init__(self, kept: ArtifactService, session: RunSession, warn: Callable[[str], None]) -> None:
        self._kept = kept
        self._session = session
        self._warn = warn
        self._waiting: list[ArtifactRefData] = []
        """References to files created since the last completed message."""

    def resume(self, waiting: list[ArtifactRefData]) -> None:
        self._waiting = list(waiting)

    async def register(self, effect: FileResult) -> Artifact | None:
        """Stores or looks up the file, which goes with the next message. Returns None if that is not possible."""
        said = effect.data
        try:
            if effect.content is None:
                artifact = await self._kept.get_visible(said.artifact_id or "", readable_scope(self._session))
            else:
                described = ArtifactInfo(
                    said.artifact_type, said.name or "", said.mime_type or "", metadata=said.metadata or {}
                )
                incoming = await self._kept.start_upload()
                await incoming.write(effect.content)
                artifact = await self._kept.finish_upload(
                    incoming, described, owned_scope(self._session), sha256=said.sha256 or ""
                )
        except ProviderFailed as failure:
            self._warn(f"result {effect.sequence} (artifact.created) is dropped: {failure.message}")
            return None
        self._waiting.append(artifact.to_ref())
        return artifact

    async def attach(self, message: dict[str, Any], text: str) -> MessageWithFiles:
        """Returns the message with its files resolved and stored."""
        content = message.get("content", "")
        if not self._waiting and isinstance(content, str) and "artifact_refs" not in message:
            encoded_most = len(text) * 4
            if encoded_most <= TRANSCRIPT_TEXT_BYTES:
                return MessageWithFiles(message, text)
        carried = MessageWithFiles(dict(message), text)
        if isinstance(content, list):
            carried.message["content"] = await self._elements(content, carried)
        own = [await self._named(str(ref["artifact_id"])) for ref in message.get("artifact_refs") or ()]
        beside = [*self._waiting, *(ref for ref in own if ref)]
        self._waiting = []
        await self._shorten(carried, beside)
        shown = {ref["artifact_id"]: ref for ref in beside}
        carried.message.pop("artifact_refs", None)
        if shown:
            carried.message["artifact_refs"] = list(shown.values())
        carried.refs = list({**shown, **{ref["artifact_id"]: ref for ref in carried.refs}}.values())
        return carried

    async def _shorten(self, carried: MessageWithFiles, beside: list[ArtifactRefData]) -> None:
        """Stores a text as a file if it is too long for the transcript, and shortens it if it is too long to be
        shown.
        """
        encoded = carried.text.encode(errors="replace")
        if len(encoded) <= TRANSCRIPT_TEXT_BYTES:
            return
        whole = await self._store_or_warn(encoded, ArtifactInfo("text", "message.txt", "text/plain"), carried)
        shown, cut = truncate_message(carried.text)
        if not cut:
            return
        self._warn("a message is longer than may be shown; it is kept whole as an artifact")
        content = carried.message["content"]
        rest = [each for each in content if each.get("type") != "text"] if isinstance(content, list) else []
        carried.message["content"] = [{"type": "text", "text": shown}, *rest] if rest else shown
        about = {**(carried.message.get("metadata") or {}), "cut": True}
        carried.text = shown
        if whole is not None:
            about[FULL_TEXT_KEY] = whole.artifact_id
            beside.append(whole.to_ref())
        carried.message["metadata"] = about

    async def _elements(self, elements: list[Any], carried: MessageWithFiles) -> list[Any]:
        kept = [await self._element(element, carried) for element in elements]
        return [element for element in kept if element is not None]

    async def _element(self, element: dict[str, Any], carried: MessageWithFiles) -> dict[str, Any] | None:
        if element.get("type") == "quote":
            return {**element, "contents": await self._elements(element.get("contents", []), carried)}
        if element.get("type") == "json":
            return await self._value(element, carried)
        if element.get("type") not in MEDIA_TYPES or "url" in element:
            return element
        if "artifact_id" in element:
            ref = await self._named(element["artifact_id"])
            carried.refs += [ref] if ref else []
            return element if ref else None
        rest = {name: value for name, value in element.items() if name != "content_base64"}
        artifact = await self._store_inline(element, carried)
        if artifact is None:
            return None
        return {**rest, **_artifact_fields(artifact)}

    async def _value(self, element: dict[str, Any], carried: MessageWithFiles) -> dict[str, Any] | None:
        """Replaces a JSON value that is too large for a message by a file."""
        content = to_json(element.get("value"))
        if len(content) <= RESULT_BYTES:
            return element
        described = ArtifactInfo("json", "value.json", "application/json")
        artifact = await self._store_or_warn(content, described, carried)
        return None if artifact is None else {"type": "file", "name": "value.json", **_artifact_fields(artifact)}

    async def _store_inline(self, element: dict[str, Any], carried: MessageWithFiles) -> Artifact | None:
        try:
            content = base64.b64decode(element["content_base64"], validate=True)
        except (binascii.Error, ValueError):
            self._warn(f"an element of type {element['type']} is dropped: content_base64 is not base64")
            return None
        described = ArtifactInfo(element["type"], element.get("name") or "", element.get("mime_type") or "")
        return await self._store_or_warn(content, described, carried)

    async def _store_or_warn(
        self, content: bytes, described: ArtifactInfo, carried: MessageWithFiles
    ) -> Artifact | None:
        try:
            artifact = await self._kept.store(content, described, owned_scope(self._session))
        except ProviderFailed as failure:
            self._warn(f"a file of a message is not kept: {failure.message}")
            return None
        carried.new_artifacts.append(artifact)
        carried.refs.append(artifact.to_ref())
        return artifact

    async def _named(self, artifact_id: str) -> ArtifactRefData | None:
        try:
            return (await self._kept.get_visible(artifact_id, readable_scope(self._session))).to_ref()
        except ProviderFailed as failure:
            self._warn(f"a message names a file that it can't have: {failure.message}")
            return None


def _artifact_fields(artifact: Artifact) -> dict[str, Any]:
    mime_type = artifact.info.mime_type
    return {"mime_type": mime_type, "size_bytes": artifact.size_bytes, "artifact_id": artifact.artifact_id}
