"""Stores the files of an event as artifacts, so that the event itself contains only references.

Content is stored before the event is recorded; the rows are committed in the event's own unit.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from parlour.core.journal import Statement
from parlour.core.model.chats import SURFACE
from parlour.core.model.event import EventEnvelope
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.protocol.limits import TRANSCRIPT_TEXT_BYTES
from parlour_sdk.values import dataclass

from . import artifacts
from .artifact_service import Artifacts
from .artifacts import Artifact, Description, Place
from .conversations import Conversations

FILES_OF_AN_EVENT = 50
"""Largest number of files that one event may create."""
MEDIA: Final = ("image", "audio", "video", "file")
CHAINS: Final = ("message_chain", "new_content")
CHAIN_MEDIA: Final = {"Image": "image", "Voice": "audio", "File": "file", "Video": "video"}
NESTING: Final = ("Quote", "Forward")


@dataclass(frozen=True, slots=True)
class Taken:
    """An event as it is recorded, with its new artifacts and the uploads that it claims."""

    event: EventEnvelope
    made: tuple[Artifact, ...] = ()
    claimed: tuple[str, ...] = ()

    def statements(self, conversation_id: str) -> list[Statement]:
        if not self.made and not self.claimed:
            return []
        place = replace(_place(self.event), conversation_id=conversation_id)
        claims = [artifacts.claim(artifact_id, place) for artifact_id in self.claimed]
        return [*claims, *(each.at(conversation_id).insert() for each in self.made)]


class EventMedia:
    """Replaces the files of events by artifacts."""

    def __init__(self, kept: Artifacts) -> None:
        self._kept = kept

    async def take(self, event: EventEnvelope, conversations: Conversations) -> Taken:
        """Stores the files of an event. Raises ProviderFailed with the field that is not accepted."""
        if not _has_files(event):
            return Taken(event)
        work = _Taking(self._kept, event, await conversations.find(event.conversation))
        told: dict[str, Any] = dict(event.input)
        if event.input.get("contents"):
            told["contents"] = await work.elements(event.input["contents"], "input.contents")
        await work.attachments(event.input.get("attachments", ()))
        data = {**event.data, **{name: await work.chain(event.data[name], name) for name in _chains(event)}}
        if work.refs:
            told["attachments"] = list(work.refs.values())
        metadata = {**event.metadata, **await work.long_text(event.text)}
        changed = replace(event, input=told, data=data, metadata=metadata)
        return Taken(changed, tuple(work.made), tuple(work.claimed))


class _Taking:
    """Collects the files of one event."""

    def __init__(self, kept: Artifacts, event: EventEnvelope, conversation_id: str | None) -> None:
        self._kept = kept
        self._place = _place(event)
        self._own = None if conversation_id is None else replace(self._place, conversation_id=conversation_id)
        self._owner = event.principal
        self.refs: dict[str, dict[str, Any]] = {}
        self.made: list[Artifact] = []
        self.claimed: list[str] = []
        self._brought_before: dict[str, Artifact] = {}
        self._from_platform = event.surface == SURFACE
        """True for events of adapters, which validate message chains.

        Links of platforms expire and may contain keys, so they are replaced by artifacts.
        """
        self._linked_before: dict[str, Artifact] = {}

    async def elements(self, elements: Any, field: str) -> list[Any]:
        return [await self._element(element, f"{field}.{number}") for number, element in enumerate(elements)]

    async def _element(self, element: dict[str, Any], field: str) -> dict[str, Any]:
        if element.get("type") == "quote":
            return {**element, "contents": await self.elements(element.get("contents", ()), f"{field}.contents")}
        if element.get("type") not in MEDIA:
            return element
        if "content_base64" in element:
            rest = {name: value for name, value in element.items() if name != "content_base64"}
            return {**rest, **_told(await self._brought(element, element["content_base64"], f"{field}.content_base64"))}
        if "artifact_id" in element:
            return {**element, **_told(await self._known(element["artifact_id"], f"{field}.artifact_id"))}
        artifact = self._linked(element, str(element["url"]))
        return _named(element, "url", artifact) if self._from_platform else element

    async def attachments(self, refs: Any) -> None:
        for number, ref in enumerate(refs):
            await self._known(ref["artifact_id"], f"input.attachments.{number}.artifact_id")

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
        kind = CHAIN_MEDIA.get(str(component.get("type")))
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
        if nested and content not in self._brought_before:
            return _labelled(component, kind)
        artifact = await self._brought({**component, "type": kind}, content, f"{field}.base64")
        return _named(component, "base64", artifact)

    def _link_component(self, component: dict[str, Any], kind: str, nested: bool) -> Any:
        url = component["url"]
        if nested and url not in self._linked_before:
            return _labelled(component, kind)
        return _named(component, "url", self._linked({**component, "type": kind}, url))

    async def long_text(self, text: str) -> dict[str, Any]:
        """Stores a text that is too long for the transcript as an artifact; returns the metadata that refers to it."""
        content = text.encode(errors="replace")
        if len(content) <= TRANSCRIPT_TEXT_BYTES:
            return {}
        description = Description("text", "message.txt", "text/plain", "event")
        artifact = await self._kept.keep(content, description, self._place)
        self.made.append(artifact)
        return {"text_ref": artifact.ref()}

    async def _brought(self, element: Mapping[str, Any], content: str, field: str) -> Artifact:
        known = self._brought_before.get(content)
        if known is not None:
            return known  # a platform's message has the same file in its input and in its chain
        try:
            decoded = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            raise ProviderFailed("invalid_argument", f"{field}: this is not base64") from None
        kept = await self._kept.keep(decoded, _description(element, str(element["type"])), self._place)
        self._brought_before[content] = self._add(kept)
        return kept

    def _linked(self, element: Mapping[str, Any], url: str) -> Artifact:
        if url not in self._linked_before:
            linked = self._kept.linked(url, _description(element, str(element["type"])), self._place)
            self._linked_before[url] = self._add(linked)
        return self._linked_before[url]

    async def _known(self, artifact_id: str, field: str) -> Artifact:
        artifact = await self._kept.find(artifact_id)
        if artifact is not None and self._own is not None and self._own.sees(artifact.place):
            self.refs[artifact_id] = artifact.ref()
            return artifact
        upload = artifact is not None and artifact.description.source == "upload" and not artifact.place.conversation_id
        if artifact is None or not upload or artifact.reference != self._owner:
            raise ProviderFailed("invalid_argument", f"{field}: there is no such file; send it with POST /api/v1/files")
        if artifact_id not in self.claimed:
            self.claimed.append(artifact_id)
        kept = replace(artifact, description=replace(artifact.description, expires_at=0))
        self.refs[artifact_id] = kept.ref()
        return kept

    def _add(self, artifact: Artifact) -> Artifact:
        if len(self.made) >= FILES_OF_AN_EVENT:
            limit = f"an event brings at most {FILES_OF_AN_EVENT} files"
            raise ProviderFailed("invalid_argument", f"input.contents: {limit}")
        self.made.append(artifact)
        self.refs[artifact.artifact_id] = artifact.ref()
        return artifact


def taken_elsewhere() -> ProviderFailed:
    sentence = "a file of this event went to another conversation just now; send it again with POST /api/v1/files"
    return ProviderFailed("invalid_argument", sentence)


def _has_files(event: EventEnvelope) -> bool:
    said = event.input
    if said.get("attachments") or _chains(event):
        return True
    if any(element.get("type") in MEDIA or element.get("type") == "quote" for element in said.get("contents") or ()):
        return True
    text = event.text
    return len(text) * 4 > TRANSCRIPT_TEXT_BYTES and len(text.encode(errors="replace")) > TRANSCRIPT_TEXT_BYTES


def _chains(event: EventEnvelope) -> list[str]:
    """Returns the names of the event's message chains that contain files."""
    if not event.data:
        return []
    from_platform = event.surface == SURFACE
    return [name for name in CHAINS if name in event.data and _brings(event.data[name], from_platform)]


def _brings(chain: Any, from_platform: bool) -> bool:
    return isinstance(chain, list) and any(
        isinstance(each, dict) and _holds_files(each, from_platform) for each in chain
    )


def _holds_files(component: dict[str, Any], from_platform: bool) -> bool:
    if "base64" in component:
        return True
    return from_platform and ("url" in component or component.get("type") in NESTING)


def _place(event: EventEnvelope) -> Place:
    return Place(event.workspace_id, event.bot_id, thread_id=event.thread_id)


def _named(element: Mapping[str, Any], place: str, artifact: Artifact) -> dict[str, Any]:
    """Returns the element with the artifact's id in place of its content or link."""
    rest = {name: value for name, value in element.items() if name != place}
    return {**rest, "artifact_id": artifact.artifact_id}


def _labelled(component: Mapping[str, Any], kind: str) -> dict[str, Any]:
    name = component.get("name")
    return {"type": "Unknown", "text": f"[{kind}: {name}]" if name else f"[{kind}]"}


def _description(element: Mapping[str, Any], kind: str) -> Description:
    name, mime_type = element.get("name"), element.get("mime_type")
    return Description(kind, str(name or ""), str(mime_type or ""), "event")


def _told(artifact: Artifact) -> dict[str, Any]:
    described = artifact.description
    told = {"name": described.name, "mime_type": described.mime_type, "size_bytes": artifact.size_bytes}
    return {"artifact_id": artifact.artifact_id, **{name: value for name, value in told.items() if value != ""}}
