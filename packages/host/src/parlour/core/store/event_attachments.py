"""Stores the files of an event as artifacts, so that the event itself contains only references.

Content is stored before the event is recorded; the rows are committed in the event's own unit.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from parlour.core.journal import Statement
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import TEXT_REF, EventEnvelope
from parlour.core.model.ids import ArtifactId, ConversationId
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.protocol.limits import TRANSCRIPT_TEXT_BYTES
from parlour_sdk.values import dataclass

from . import artifacts
from .artifact_service import ArtifactService
from .artifacts import Artifact, ArtifactInfo, ArtifactScope
from .conversations import Conversations

MAX_FILES_PER_EVENT = 50
"""Largest number of files that one event may create."""
MEDIA_TYPES: Final = ("image", "audio", "video", "file")
CHAIN_FIELDS: Final = ("message_chain", "new_content")
COMPONENT_MEDIA_TYPES: Final = {"Image": "image", "Voice": "audio", "File": "file", "Video": "video"}
NESTED_COMPONENTS: Final = ("Quote", "Forward")


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """An event as it is recorded, with its new artifacts and the uploads that it claims."""

    event: EventEnvelope
    created: tuple[Artifact, ...] = ()
    claimed: tuple[ArtifactId, ...] = ()

    def statements(self, conversation_id: ConversationId) -> list[Statement]:
        if not self.created and not self.claimed:
            return []
        scope = replace(_event_scope(self.event), conversation_id=conversation_id)
        claims = [artifacts.claim(artifact_id, scope) for artifact_id in self.claimed]
        return [*claims, *(each.in_conversation(conversation_id).insert() for each in self.created)]


class EventAttachments:
    """Replaces the files of events by artifacts."""

    def __init__(self, artifacts: ArtifactService) -> None:
        self._artifacts = artifacts

    async def store(self, event: EventEnvelope, conversations: Conversations) -> PreparedEvent:
        """Stores the files of an event, and its text if that is too long for the transcript.

        Raises ProviderFailed, which names the field unless a size limit is the reason, and StorageFailed.
        """
        if not _has_files(event):
            return PreparedEvent(event)
        work = _AttachmentCollector(self._artifacts, event, await conversations.find(event.conversation_key))
        input_data: dict[str, Any] = dict(event.input)
        if event.input.get("contents"):
            input_data["contents"] = await work.elements(event.input["contents"], "input.contents")
        await work.attachments(event.input.get("attachments", ()))
        data = {**event.data, **{name: await work.chain(event.data[name], name) for name in _chains_with_files(event)}}
        if work.refs:
            input_data["attachments"] = list(work.refs.values())
        metadata = {**event.metadata, **await work.long_text(event.text)}
        prepared = replace(event, input=input_data, data=data, metadata=metadata)
        return PreparedEvent(prepared, tuple(work.created), tuple(work.claimed))


class _AttachmentCollector:
    """Collects the files of one event."""

    def __init__(
        self, artifacts: ArtifactService, event: EventEnvelope, conversation_id: ConversationId | None
    ) -> None:
        self._artifacts = artifacts
        self._scope = _event_scope(event)
        self._own_scope = None if conversation_id is None else replace(self._scope, conversation_id=conversation_id)
        self._owner = event.principal
        self.refs: dict[str, dict[str, Any]] = {}
        self.created: list[Artifact] = []
        self.claimed: list[ArtifactId] = []
        self._stored_contents: dict[str, Artifact] = {}
        self._from_platform = event.surface == PLATFORM_SURFACE
        """True for events of adapters, which validate message chains.

        Links of platforms expire and may contain keys, so they are replaced by artifacts.
        """
        self._linked_urls: dict[str, Artifact] = {}

    async def elements(self, elements: Any, field: str) -> list[Any]:
        return [await self._element(element, f"{field}.{number}") for number, element in enumerate(elements)]

    async def _element(self, element: dict[str, Any], field: str) -> dict[str, Any]:
        if element.get("type") == "quote":
            return {**element, "contents": await self.elements(element.get("contents", ()), f"{field}.contents")}
        if element.get("type") not in MEDIA_TYPES:
            return element
        if "content_base64" in element:
            fields = {name: value for name, value in element.items() if name != "content_base64"}
            return {
                **fields,
                **_artifact_fields(
                    await self._store_content(element, element["content_base64"], f"{field}.content_base64")
                ),
            }
        if "artifact_id" in element:
            return {
                **element,
                **_artifact_fields(await self._claim_existing(element["artifact_id"], f"{field}.artifact_id")),
            }
        artifact = self._link(element, str(element["url"]))
        return _with_artifact_id(element, "url", artifact) if self._from_platform else element

    async def attachments(self, refs: Any) -> None:
        for number, ref in enumerate(refs):
            await self._claim_existing(ref["artifact_id"], f"input.attachments.{number}.artifact_id")

    async def chain(self, components: Any, field: str) -> Any:
        """Replaces the files of a message chain. Outside of adapters a chain can have any shape."""
        if not isinstance(components, list):
            return components
        return [await self._component(each, f"data.{field}.{number}") for number, each in enumerate(components)]

    async def _component(self, component: Any, field: str, nested: bool = False) -> Any:
        if not isinstance(component, dict):
            return component
        match component.get("type"):
            case "Quote" if self._from_platform:
                return {**component, "origin": await self._inner(component.get("origin"), f"{field}.origin")}
            case "Forward" if self._from_platform:
                nodes = component.get("nodes") or ()
                inner = [{**node, "chain": await self._inner(node.get("chain"), field)} for node in nodes]
                return {**component, "nodes": inner}
        kind = COMPONENT_MEDIA_TYPES.get(str(component.get("type")))
        if kind is None:
            return component
        if isinstance(component.get("base64"), str):
            return await self._content_component(component, kind, field, nested)
        if self._from_platform and isinstance(component.get("url"), str):
            return self._link_component(component, kind, nested)
        return component

    async def _inner(self, chain: Any, field: str) -> list[Any]:
        """Replaces files inside a quote or forward: by artifacts if the input has the same file, else by labels."""
        return [await self._component(each, field, nested=True) for each in chain or ()]

    async def _content_component(self, component: dict[str, Any], kind: str, field: str, nested: bool) -> Any:
        content = component["base64"]
        if nested and content not in self._stored_contents:
            return _as_label(component, kind)
        artifact = await self._store_content({**component, "type": kind}, content, f"{field}.base64")
        return _with_artifact_id(component, "base64", artifact)

    def _link_component(self, component: dict[str, Any], kind: str, nested: bool) -> Any:
        url = component["url"]
        if nested and url not in self._linked_urls:
            return _as_label(component, kind)
        return _with_artifact_id(component, "url", self._link({**component, "type": kind}, url))

    async def long_text(self, text: str) -> dict[str, Any]:
        """Stores a text that is too long for the transcript as an artifact; returns the metadata that refers to it."""
        content = text.encode(errors="replace")
        if len(content) <= TRANSCRIPT_TEXT_BYTES:
            return {}
        description = ArtifactInfo("text", "message.txt", "text/plain", "event")
        artifact = await self._artifacts.store(content, description, self._scope)
        self.created.append(artifact)
        return {TEXT_REF: artifact.to_ref()}

    async def _store_content(self, element: Mapping[str, Any], content: str, field: str) -> Artifact:
        stored = self._stored_contents.get(content)
        if stored is not None:
            return stored  # a platform's message has the same file in its input and in its chain
        try:
            decoded = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            raise ProviderFailed("invalid_argument", f"{field}: this is not base64") from None
        artifact = await self._artifacts.store(decoded, _element_info(element, str(element["type"])), self._scope)
        self._stored_contents[content] = self._add(artifact)
        return artifact

    def _link(self, element: Mapping[str, Any], url: str) -> Artifact:
        if url not in self._linked_urls:
            artifact = self._artifacts.create_link(url, _element_info(element, str(element["type"])), self._scope)
            self._linked_urls[url] = self._add(artifact)
        return self._linked_urls[url]

    async def _claim_existing(self, artifact_id: ArtifactId, field: str) -> Artifact:
        artifact = await self._artifacts.get(artifact_id)
        if artifact is not None and self._own_scope is not None and self._own_scope.can_see(artifact.scope):
            self.refs[artifact_id] = artifact.to_ref()
            return artifact
        upload = artifact is not None and artifact.info.source == "upload" and not artifact.scope.conversation_id
        if artifact is None or not upload or artifact.reference != self._owner:
            raise ProviderFailed("invalid_argument", f"{field}: there is no such file; send it with POST /api/v1/files")
        if artifact_id not in self.claimed:
            self.claimed.append(artifact_id)
        permanent = replace(artifact, info=replace(artifact.info, expires_at=0))
        self.refs[artifact_id] = permanent.to_ref()
        return permanent

    def _add(self, artifact: Artifact) -> Artifact:
        if len(self.created) >= MAX_FILES_PER_EVENT:
            limit = f"an event brings at most {MAX_FILES_PER_EVENT} files"
            raise ProviderFailed("invalid_argument", f"input.contents: {limit}")
        self.created.append(artifact)
        self.refs[artifact.artifact_id] = artifact.to_ref()
        return artifact


def attachment_in_use() -> ProviderFailed:
    message = "a file of this event went to another conversation just now; send it again with POST /api/v1/files"
    return ProviderFailed("invalid_argument", message)


def _has_files(event: EventEnvelope) -> bool:
    input_data = event.input
    if input_data.get("attachments") or _chains_with_files(event):
        return True
    if any(
        element.get("type") in MEDIA_TYPES or element.get("type") == "quote"
        for element in input_data.get("contents") or ()
    ):
        return True
    text = event.text
    return len(text) * 4 > TRANSCRIPT_TEXT_BYTES and len(text.encode(errors="replace")) > TRANSCRIPT_TEXT_BYTES


def _chains_with_files(event: EventEnvelope) -> list[str]:
    """Returns the names of the event's message chains that contain files."""
    if not event.data:
        return []
    is_platform_event = event.surface == PLATFORM_SURFACE
    return [
        name for name in CHAIN_FIELDS if name in event.data and _chain_has_files(event.data[name], is_platform_event)
    ]


def _chain_has_files(chain: Any, is_platform_event: bool) -> bool:
    return isinstance(chain, list) and any(
        isinstance(each, dict) and _component_has_files(each, is_platform_event) for each in chain
    )


def _component_has_files(component: dict[str, Any], is_platform_event: bool) -> bool:
    if "base64" in component:
        return True
    return is_platform_event and ("url" in component or component.get("type") in NESTED_COMPONENTS)


def _event_scope(event: EventEnvelope) -> ArtifactScope:
    return ArtifactScope(event.workspace_id, event.bot_id, thread_id=event.thread_id)


def _with_artifact_id(element: Mapping[str, Any], source_field: str, artifact: Artifact) -> dict[str, Any]:
    """Returns the element with the artifact's id in place of its content or link."""
    fields = {name: value for name, value in element.items() if name != source_field}
    return {**fields, "artifact_id": artifact.artifact_id}


def _as_label(component: Mapping[str, Any], kind: str) -> dict[str, Any]:
    name = component.get("name")
    return {"type": "Unknown", "text": f"[{kind}: {name}]" if name else f"[{kind}]"}


def _element_info(element: Mapping[str, Any], kind: str) -> ArtifactInfo:
    name, mime_type = element.get("name"), element.get("mime_type")
    return ArtifactInfo(kind, str(name or ""), str(mime_type or ""), "event")


def _artifact_fields(artifact: Artifact) -> dict[str, Any]:
    info = artifact.info
    fields = {"name": info.name, "mime_type": info.mime_type, "size_bytes": artifact.size_bytes}
    return {"artifact_id": artifact.artifact_id, **{name: value for name, value in fields.items() if value != ""}}
