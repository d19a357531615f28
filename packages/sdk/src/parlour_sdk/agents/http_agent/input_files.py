"""Reads the files of a user's message, within limits of number and size."""

import base64
import binascii
from typing import Literal

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.content import AgentInput, ArtifactRef, MediaElement

from ...values import dataclass
from .client import ServiceClient
from .errors import ServiceFailure

MAX_FILES = 10
MAX_FILE_BYTES = 10 * 1024 * 1024
FileKind = Literal["image", "audio", "video", "file"]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of the message, before it is read. Exactly one of the last three fields is set."""

    name: str
    kind: FileKind
    mime_type: str | None = None
    size_bytes: int | None = None
    artifact_id: str | None = None
    url: str | None = None
    content_base64: str | None = None

    async def read(self, api: AgentRunAPI, client: ServiceClient, limit: int = MAX_FILE_BYTES) -> bytes:
        """Returns the content. Raises ServiceFailure if it is larger than the limit."""
        if (self.size_bytes or 0) > limit:
            raise _too_large(self.name, limit)
        if self.content_base64 is not None:
            try:
                content = base64.b64decode(self.content_base64, validate=True)
            except binascii.Error:
                raise ServiceFailure("input", f"the file {self.name} can't be decoded") from None
        elif self.url is not None:
            content = await client.download(self.url, limit)
        else:
            content = await _read_artifact(api, self.artifact_id or "", self.name, limit)
        if len(content) > limit:
            raise _too_large(self.name, limit)
        return content

    async def read_base64(self, api: AgentRunAPI, client: ServiceClient, limit: int = MAX_FILE_BYTES) -> str:
        """Returns the content in base64. Raises ServiceFailure as `read` does."""
        return base64.b64encode(await self.read(api, client, limit)).decode()

    async def read_data_url(self, api: AgentRunAPI, client: ServiceClient) -> str:
        """Returns a picture as a `data:` URL. Raises ServiceFailure as `read` does."""
        return f"data:{self.mime_type or 'image/png'};base64,{await self.read_base64(api, client)}"


def input_files(given: AgentInput) -> list[InputFile]:
    """Returns the files of a message, each once. Raises ServiceFailure if there are too many."""
    elements = [_from_element(each) for each in given.contents if isinstance(each, MediaElement)]
    known = {each.artifact_id for each in elements}
    files = elements + [_from_artifact(each) for each in given.attachments if each.artifact_id not in known]
    if len(files) > MAX_FILES:
        raise ServiceFailure("input", f"a message has at most {MAX_FILES} files")
    return files


def _from_element(element: MediaElement) -> InputFile:
    return InputFile(
        element.name or element.type,
        element.type,
        element.mime_type,
        element.size_bytes,
        element.artifact_id,
        element.url,
        element.content_base64,
    )


def _from_artifact(artifact: ArtifactRef) -> InputFile:
    prefix = (artifact.mime_type or artifact.artifact_type).partition("/")[0]
    kind: FileKind = prefix if prefix in ("image", "audio", "video") else "file"  # type: ignore[assignment]
    name = artifact.name or artifact.artifact_id
    return InputFile(name, kind, artifact.mime_type, artifact.size_bytes, artifact.artifact_id)


async def _read_artifact(api: AgentRunAPI, artifact_id: str, name: str, limit: int) -> bytes:
    content = bytearray()
    async for chunk in api.artifacts.stream(artifact_id):
        content += chunk
        if len(content) > limit:
            raise _too_large(name, limit)
    return bytes(content)


def _too_large(name: str, limit: int) -> ServiceFailure:
    return ServiceFailure("input", f"the file {name} is larger than {limit / 1024 / 1024:g} MB")
