"""The resources of the MCP door: the conversations and files of the key that asks."""

import base64
import json

import mcp_types as types
from mcp.shared.exceptions import MCPError

from parlour.core.journal import Journal, Row, Select, below, where
from parlour.core.model.ids import ArtifactId
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.tables import CONVERSATIONS, TRANSCRIPT

from ...artifacts.access import ArtifactAccess
from ...principals import Principal
from .transport import McpContext, principal_of

Contents = types.TextResourceContents | types.BlobResourceContents
PAGE_ITEMS = 50
MAX_FILE_BYTES = 1024 * 1024
"""Size up to which a file is read as a resource."""
_CONVERSATIONS, _ARTIFACTS = "parlour://conversations/", "parlour://artifacts/"


class OwnResources:
    def __init__(self, journal: Journal, artifacts: ArtifactService) -> None:
        self._journal = journal
        self._artifacts = artifacts
        self._access = ArtifactAccess(journal)

    async def list(self, context: McpContext, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """Lists the conversations of the key, the newest first."""
        principal = principal_of(context)
        cursor = params.cursor if params is not None else None
        conditions = where(principal=principal.owner) + (
            where(conversation_id=below(cursor)) if cursor is not None else ()
        )
        query = Select(
            CONVERSATIONS, conditions, order=("conversation_id",), direction="descending", limit=PAGE_ITEMS + 1
        )
        rows = await self._journal.read(query)
        page = rows[:PAGE_ITEMS]
        more = str(page[-1]["conversation_id"]) if len(rows) > PAGE_ITEMS else None
        return types.ListResourcesResult(resources=[_conversation(row) for row in page], next_cursor=more)

    async def templates(
        self, context: McpContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                name="conversation", uri_template=f"{_CONVERSATIONS}{{conversation_id}}", mime_type="application/json"
            ),
            types.ResourceTemplate(name="file", uri_template=f"{_ARTIFACTS}{{artifact_id}}"),
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read(self, context: McpContext, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        principal = principal_of(context)
        uri = str(params.uri)
        contents: Contents | None = None
        if uri.startswith(_CONVERSATIONS):
            contents = await self._conversation_text(uri.removeprefix(_CONVERSATIONS), principal)
        elif uri.startswith(_ARTIFACTS):
            contents = await self._file(uri.removeprefix(_ARTIFACTS), principal)
        if contents is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri[:200]}")
        return types.ReadResourceResult(contents=[contents])

    async def _conversation_text(self, conversation_id: str, principal: Principal) -> types.TextResourceContents | None:
        """Returns the newest messages of a conversation of this key, in their order."""
        owned = where(conversation_id=conversation_id, principal=principal.owner)
        if not await self._journal.read(Select(CONVERSATIONS, owned, ("conversation_id",), limit=1)):
            return None
        query = Select(
            TRANSCRIPT, where(conversation_id=conversation_id), order=("seq",), direction="descending", limit=PAGE_ITEMS
        )
        items = [
            {"role": row["role"], "content": row["content"], "created_at": row["created_at"]}
            for row in reversed(await self._journal.read(query))
        ]
        uri = f"{_CONVERSATIONS}{conversation_id}"
        return types.TextResourceContents(
            uri=uri, mime_type="application/json", text=json.dumps(items, ensure_ascii=False)
        )

    async def _file(self, artifact_id: str, principal: Principal) -> Contents | None:
        artifact = await self._artifacts.get(ArtifactId(artifact_id))
        if artifact is None or not await self._access.allows(principal, artifact):
            return None
        content = await self._artifacts.read(artifact, 0, MAX_FILE_BYTES)
        mime_type, uri = artifact.info.mime_type or "application/octet-stream", f"{_ARTIFACTS}{artifact_id}"
        if mime_type.startswith("text/") or mime_type == "application/json":
            return types.TextResourceContents(uri=uri, mime_type=mime_type, text=content.decode(errors="replace"))
        return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=base64.b64encode(content).decode())


def _conversation(row: Row) -> types.Resource:
    name = f"{row['source']}: {row['chat']}"[:200]
    return types.Resource(uri=f"{_CONVERSATIONS}{row['conversation_id']}", name=name, mime_type="application/json")
