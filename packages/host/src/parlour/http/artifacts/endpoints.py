"""Endpoints that return an artifact's metadata and its content."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from parlour.core.model.ids import ArtifactId
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact

from ..api_router import ApiRouter
from ..auth import Reader
from ..errors import not_found
from ..principals import Principal
from .access import ArtifactAccess
from .content import content_response
from .responses import ArtifactResponse

ArtifactPath = Annotated[ArtifactId, Path(max_length=64)]

_BYTES = {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The whole", **_BYTES},
    206: {"description": "The range that was asked for", **_BYTES},
    304: {"description": "It is what the caller has already"},
}


def router(artifacts: ArtifactService, access: ArtifactAccess) -> APIRouter:
    routes = ApiRouter(tags=["artifacts"])

    async def visible(artifact_id: ArtifactId, principal: Principal) -> Artifact:
        """Returns the artifact if the principal may see it. Another principal's artifact yields not_found, like one
        that never existed or has expired."""
        artifact = await artifacts.get(artifact_id)
        if artifact is None or not await access.allows(principal, artifact):
            raise not_found(f"artifact '{artifact_id}'", "transcripts and runs name theirs")
        return artifact

    @routes.head("/artifacts/{artifact_id}", include_in_schema=False)
    @routes.get("/artifacts/{artifact_id}")
    async def read_artifact(artifact_id: ArtifactPath, principal: Reader) -> ArtifactResponse:
        return to_response(await visible(artifact_id, principal))

    @routes.head("/artifacts/{artifact_id}/content", include_in_schema=False)
    @routes.get("/artifacts/{artifact_id}/content", response_class=Response, responses=CONTENT)
    async def read_content(artifact_id: ArtifactPath, principal: Reader, request: Request) -> Response:
        """Whole, or the range that is asked for. What could run in a browser comes as a download."""
        return content_response(artifacts, await artifacts.ensure_local(await visible(artifact_id, principal)), request)

    return routes


def to_response(artifact: Artifact) -> ArtifactResponse:
    info, scope = artifact.info, artifact.scope
    return {
        "artifact_id": artifact.artifact_id,
        "artifact_type": info.artifact_type,
        "mime_type": info.mime_type or None,
        "name": info.name or None,
        "size_bytes": artifact.size_bytes if artifact.location == "object" else None,
        "sha256": artifact.sha256 or None,
        "source": info.source,
        "conversation_id": scope.conversation_id or None,
        "run_id": scope.run_id or None,
        "runner_id": scope.runner_id or None,
        "created_at": artifact.created_at,
        "expires_at": info.expires_at or None,
        "metadata": info.metadata,
    }
