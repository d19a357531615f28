"""Endpoints to create, list and revoke API keys. The secret is returned only on creation."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from parlour.core.access.keys import ApiKeyRecord, ApiKeys, Scope
from parlour.core.model.ids import ApiKeyId
from parlour.core.model.ports import Clock
from parlour.core.pagination import Cursors

from ..accounts.responses import ApiKey, NewApiKey
from ..api_router import ApiRouter
from ..auth import Admin
from ..errors import not_found
from ..pagination import Cursor, Limit, paginate
from ..responses import PageResponse

KeyPath = Annotated[ApiKeyId, Path(max_length=64)]
WorkerLabel = Annotated[str, Field(min_length=1, max_length=200)]
RunnerName = Annotated[str, Field(min_length=1, max_length=500)]


class NewKey(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Dashboard", "scope": "viewer", "expires_in_days": 90}]},
    )

    name: str = Field(min_length=1, max_length=200)
    scope: Scope = "chat"
    expires_in_days: float | None = Field(default=None, gt=0, le=3650)
    """Days until the key expires; None means never."""
    labels: list[WorkerLabel] = Field(default=[], max_length=100)
    """Labels that a worker with this key may have; only for the scope `worker`."""
    runners: list[RunnerName] = Field(default=[], max_length=1000)
    """Runners that a worker with this key may execute; empty for any. Only for the scope `worker`."""

    @model_validator(mode="after")
    def _only_for_workers(self) -> "NewKey":
        if self.scope != "worker" and (self.labels or self.runners):
            raise PydanticCustomError("worker_key", "labels and runners are for keys with the scope 'worker'")
        return self


def router(keys: ApiKeys, cursors: Cursors, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["keys"])

    @routes.post("/api-keys", status_code=201)
    async def create_key(body: NewKey, principal: Admin) -> NewApiKey:
        """`key` is in this answer only."""
        days = body.expires_in_days
        expires_at = clock.now() + int(days * 24 * 3600 * 1000) if days else 0
        bounds = (body.labels, body.runners)
        secret, key = await keys.create(body.name, body.scope, principal.owner, expires_at, *bounds)
        return {**_to_response(key), "key": secret}

    @routes.get("/api-keys")
    async def list_keys(principal: Admin, limit: Limit = 50, cursor: Cursor = None) -> PageResponse[ApiKey]:
        page, next_cursor = paginate(cursors, "api-keys", await keys.all(), attrgetter("key_id"), limit, cursor)
        return {"items": [_to_response(key) for key in page], "next_cursor": next_cursor}

    @routes.delete("/api-keys/{key_id}", status_code=204)
    async def revoke_key(key_id: KeyPath, principal: Admin) -> Response:
        """It fails on its next request; a worker with it is disconnected and loses its runs."""
        if not await keys.revoke(key_id, principal.owner):
            raise not_found(f"an active key '{key_id}'", "GET /api/v1/api-keys lists them")
        return Response(status_code=204)

    return routes


def _to_response(key: ApiKeyRecord) -> ApiKey:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "scope": key.scope,
        "labels": list(key.labels),
        "runners": list(key.runners),
        "created_at": key.created_at,
        "expires_at": key.expires_at or None,
        "last_used_at": key.last_used_at or None,
        "revoked_at": key.revoked_at or None,
    }
