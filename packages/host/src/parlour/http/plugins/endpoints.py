"""Endpoints to install, read, change, restart and remove plugins."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import UNUSABLE, BundledPlugin, PluginError, PluginManager
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..auth import Admin, Operator, Viewer
from ..errors import Problem, not_found
from ..pagination import Cursor, LongLimit, paginate
from ..responses import PageResponse
from .audit import PluginAudit
from .install_request import read_install_request
from .responses import BundledPluginResponse, PluginResponse
from .schemas import ChangeBody, InstallBody, to_bundled_response, to_response

STATUS = {
    "not_found": 404,
    "grants_required": 409,
    "identity_mismatch": 409,
    "plugin_not_started": 409,
    "disabled": 409,
    UNUSABLE: 409,
    "storage_full": 507,
    "not_written": 503,
    "runtime_unavailable": 503,
}
"""HTTP status by error code; all other codes are errors of the request (422)."""

LogLimit = Annotated[int, Query(ge=1, le=1000, description="How many of the last lines at most")]
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": InstallBody.model_json_schema()},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "A zip of the plugin's folder"},
                        "granted": {"type": "string", "description": "A JSON list of permissions"},
                        "upgrade": {"type": "string"},
                    },
                }
            },
        },
    }
}


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except PluginError as problem:
        raise Problem(STATUS.get(problem.code, 422), problem.code, problem.message, problem.details) from problem
    except asyncio.CancelledError:  # the server is stopping and does not wait for work that may take minutes
        raise Problem(503, "stopping", "the Host stopped before this was done; look at it when it runs again") from None


def router(
    plugins: PluginManager,
    bundled: Callable[[], Sequence[BundledPlugin]],
    uploads: Path,
    changes: PluginAudit,
    cursors: Cursors,
) -> APIRouter:
    routes = ApiRouter(tags=["plugins"])

    @routes.get("/plugins")
    async def list_plugins(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> PageResponse[PluginResponse]:
        """Every installed plugin; one that does not run says why."""
        with _refusals():
            page, next_cursor = paginate(cursors, "plugins", plugins.all(), attrgetter("plugin_id"), limit, cursor)
        return {"items": [to_response(each) for each in page], "next_cursor": next_cursor}

    @routes.get("/plugins/bundled")
    async def list_bundled_plugins(principal: Viewer) -> PageResponse[BundledPluginResponse]:
        """The plugins that come with this release; `POST /plugins/install` with one's `source` installs it."""
        with _refusals():
            versions = {each.plugin_id: each.version for each in plugins.all()}
        found = await asyncio.to_thread(bundled)
        items = [to_bundled_response(each, versions.get(each.plugin_id)) for each in found]
        return {"items": items, "next_cursor": None}

    @routes.post("/plugins/install", status_code=201, openapi_extra=BODY)
    async def install_plugin(request: Request, principal: Admin) -> PluginResponse:
        """Installs or upgrades; a version that does not start leaves the one before it in service."""
        with _refusals():
            async with read_install_request(request, uploads) as install_request:
                before = {each.plugin_id: each for each in plugins.all()}
                info = await plugins.install(
                    install_request.source, install_request.file_name, install_request.granted, install_request.upgrade
                )
        await changes.record(principal, "plugin.install", before.get(info.plugin_id), info)
        return to_response(info)

    @routes.get("/plugins/{author}/{name}")
    async def read_plugin(author: str, name: str, principal: Viewer) -> PluginResponse:
        with _refusals():
            info = plugins.get(_plugin_id(author, name))
        if info is None:
            raise not_found(f"plugin '{author}/{name}'", "GET /api/v1/plugins lists them")
        return to_response(info)

    @routes.put("/plugins/{author}/{name}")
    async def change_plugin(author: str, name: str, body: ChangeBody, principal: Admin) -> PluginResponse:
        with _refusals():
            before = plugins.get(_plugin_id(author, name))
            info = await plugins.change(_plugin_id(author, name), body.granted, body.enabled)
        await changes.record(principal, "plugin.change", before, info)
        return to_response(info)

    @routes.post("/plugins/{author}/{name}/restart")
    async def restart_plugin(author: str, name: str, principal: Admin) -> PluginResponse:
        with _refusals():
            before = plugins.get(_plugin_id(author, name))
            info = await plugins.restart(_plugin_id(author, name))
        await changes.record(principal, "plugin.restart", before, info)
        return to_response(info)

    @routes.get("/plugins/{author}/{name}/logs")
    async def read_log(author: str, name: str, principal: Operator, limit: LogLimit = 200) -> PageResponse[str]:
        """The last lines that it wrote, oldest first; before them those of the last build of its environment."""
        with _refusals():
            return {"items": await plugins.log(_plugin_id(author, name), limit), "next_cursor": None}

    @routes.delete("/plugins/{author}/{name}", status_code=204)
    async def remove_plugin(
        author: str, name: str, principal: Admin, data: Literal["keep", "delete"] = "keep"
    ) -> Response:
        """Its agents stay and say that it is gone."""
        with _refusals():
            before = plugins.get(_plugin_id(author, name))
            await plugins.remove(_plugin_id(author, name), data == "delete")
        await changes.record(principal, "plugin.remove", before, None)
        return Response(status_code=204)

    return routes


def _plugin_id(author: str, name: str) -> PluginId:
    return PluginId(f"{author}/{name}")
