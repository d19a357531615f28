"""Reads the text of artifacts that are documents, for models that can't read the files themselves."""

from parlour.core.model.providers import Documents, ProviderFailed
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact

MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
"""Size up to which a file of a message is read as a document."""


async def read_document(documents: Documents, artifacts: ArtifactService, artifact: Artifact) -> bytes:
    """Returns the text of a document as UTF-8. Raises ProviderFailed with the reason why there is none."""
    if artifact.size_bytes > MAX_DOCUMENT_BYTES:
        limit = MAX_DOCUMENT_BYTES // 1024 // 1024
        raise ProviderFailed("payload_too_large", f"documents of more than {limit} MiB are not read")
    info = artifact.info
    text = await documents.read(
        artifact.artifact_id, info.name, info.mime_type, lambda: artifacts.stream(artifact, 0, artifact.size_bytes)
    )
    return text.encode()


def excerpt(content: bytes, offset: int, length: int) -> str:
    """Returns a piece of UTF-8 text without an incomplete character at its end."""
    return content[offset : offset + length].decode(errors="ignore")
