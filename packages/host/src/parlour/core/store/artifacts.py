"""Rows of artifacts: files, media and large results, with their type and the scope in which they are visible.

The content is in the object store. An object is durable before its row is written, so a row always has its content.
"""

from dataclasses import field, replace
from typing import Any, Final, Literal

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Delete, Insert, Row, Update, where
from parlour.core.model.ids import (
    NO_BINDING,
    NO_BOT,
    NO_CONVERSATION,
    NO_RUN,
    NO_RUNNER,
    ArtifactId,
    BindingId,
    BotId,
    ConversationId,
    RunId,
    RunnerId,
)
from parlour_sdk.values import dataclass

from .tables import ARTIFACTS

Location = Literal["object", "url", "platform"]
MAX_NAME_CHARACTERS = 200
"""Largest length of a file name; the rest is cut off."""
_SCOPE_COLUMNS: Final = ("workspace_id", "bot_id", "conversation_id", "thread_id", "run_id", "runner_id", "binding_id")


@dataclass(frozen=True, slots=True)
class ArtifactScope:
    """Scope of an artifact: a conversation, a run, or a binding if it has neither."""

    workspace_id: str = "default"
    bot_id: BotId = NO_BOT
    conversation_id: ConversationId = NO_CONVERSATION
    thread_id: str = ""
    run_id: RunId = NO_RUN
    runner_id: RunnerId = NO_RUNNER
    binding_id: BindingId = NO_BINDING

    def can_see(self, other: "ArtifactScope") -> bool:
        """Returns whether a run in this scope may see artifacts of the other scope."""
        if self.workspace_id != other.workspace_id:
            return False
        if other.run_id and other.run_id == self.run_id:
            return True
        if other.conversation_id:
            return (other.conversation_id, other.thread_id) == (self.conversation_id, self.thread_id)
        return bool(other.binding_id) and other.binding_id == self.binding_id


@dataclass(frozen=True, slots=True)
class ArtifactInfo:
    """Description of a file by its sender."""

    artifact_type: str = "file"
    name: str = ""
    mime_type: str = ""
    source: str = "runner"
    expires_at: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A stored file, or a link to one."""

    artifact_id: ArtifactId
    info: ArtifactInfo
    """Description with the media type that was detected from the content."""
    scope: ArtifactScope
    created_at: int
    sha256: str = ""
    size_bytes: int = 0
    location: Location = "object"
    reference: str = ""
    """Owner of an upload, or address of a link. It is never shown."""

    def insert(self) -> Insert:
        info = self.info
        return Insert(
            ARTIFACTS,
            {
                "artifact_id": self.artifact_id,
                "artifact_type": info.artifact_type,
                "mime_type": info.mime_type,
                "name": info.name,
                "sha256": self.sha256,
                "source": info.source,
                **{name: getattr(self.scope, name) for name in _SCOPE_COLUMNS},
                "location": self.location,
                "reference": self.reference,
                "summary": "",
                "metadata": dumps(info.metadata),
                "size_bytes": self.size_bytes,
                "created_at": self.created_at,
                "expires_at": info.expires_at,
            },
        )

    def in_conversation(self, conversation_id: ConversationId) -> "Artifact":
        return replace(self, scope=replace(self.scope, conversation_id=conversation_id))

    def to_ref(self) -> dict[str, Any]:
        """Returns the reference that messages and inputs contain; unknown fields are left out."""
        info = self.info
        fields = {
            "artifact_id": self.artifact_id,
            "artifact_type": info.artifact_type,
            "mime_type": info.mime_type,
            "name": info.name,
            "size_bytes": self.size_bytes if self.location == "object" else None,
            "sha256": self.sha256,
            "expires_at": info.expires_at,
        }
        return {name: value for name, value in fields.items() if value or (name == "size_bytes" and value is not None)}

    def to_metadata(self) -> dict[str, Any]:
        """Returns all metadata that may be shown, with null for unknown fields."""
        info, scope = self.info, self.scope
        return {
            "artifact_id": self.artifact_id,
            "artifact_type": info.artifact_type,
            "mime_type": info.mime_type or None,
            "name": info.name or None,
            "size_bytes": self.size_bytes if self.location == "object" else None,
            "sha256": self.sha256 or None,
            "source": info.source,
            "conversation_id": scope.conversation_id or None,
            "run_id": scope.run_id or None,
            "runner_id": scope.runner_id or None,
            "created_at": self.created_at,
            "expires_at": info.expires_at or None,
            "metadata": info.metadata,
        }


def from_row(row: Row) -> Artifact:
    description = ArtifactInfo(
        artifact_type=row["artifact_type"],
        name=row["name"],
        mime_type=row["mime_type"],
        source=row["source"],
        expires_at=row["expires_at"],
        metadata=loads(row["metadata"]),
    )
    return Artifact(
        artifact_id=row["artifact_id"],
        info=description,
        scope=ArtifactScope(**{name: row[name] for name in _SCOPE_COLUMNS}),
        created_at=row["created_at"],
        sha256=row["sha256"],
        size_bytes=row["size_bytes"],
        location=row["location"],
        reference=row["reference"],
    )


def claim(artifact_id: ArtifactId, scope: ArtifactScope) -> Update:
    """Builds the statement that assigns an upload to a conversation.

    It fails its guard if it already has one or does not exist.
    """
    values: dict[str, Any] = {
        "bot_id": scope.bot_id,
        "conversation_id": scope.conversation_id,
        "thread_id": scope.thread_id,
        "expires_at": 0,
    }
    return Update(ARTIFACTS, values, where(artifact_id=artifact_id, source="upload", conversation_id=""))


def mark_fetched(artifact: Artifact) -> Update:
    """Builds the statement that records that the content of a link was downloaded."""
    values: dict[str, Any] = {
        "location": "object",
        "sha256": artifact.sha256,
        "size_bytes": artifact.size_bytes,
        "mime_type": artifact.info.mime_type,
        "metadata": dumps(artifact.info.metadata),
    }
    return Update(ARTIFACTS, values, where(artifact_id=artifact.artifact_id), expect=ANY)


def remove(artifact_id: ArtifactId) -> Delete:
    return Delete(ARTIFACTS, where(artifact_id=artifact_id))


def remove_for_conversation(conversation_id: ConversationId) -> Delete:
    return Delete(ARTIFACTS, where(conversation_id=conversation_id), expect=ANY)


def safe_file_name(name: str) -> str:
    """Returns a file's name without folders and control characters, so that it is safe to save under it."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(each for each in last if each.isprintable())[:MAX_NAME_CHARACTERS].strip(". ")
