"""Endpoint that shows the programs of a plugin: which are installed, what each may do, and how many run."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from fastapi import APIRouter
from typing_extensions import TypedDict

from parlour.core.access.permission_text import describe_permissions
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginManager
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.processes import ANY_COMMAND, ProcessPermission
from parlour_sdk.protocol.rules import process_permissions

from ..api_router import ApiRouter
from ..auth import Viewer
from ..errors import not_found
from ..responses import LocalizedText, PageResponse
from .responses import PermissionTextResponse


class ProgramPlaces(Protocol):
    """Knows which programs are installed, and which run."""

    def locate(self, command: str) -> Path | None: ...

    def count_running(self, plugin_id: PluginId) -> Mapping[str, int]: ...


class ProgramCommandResponse(TypedDict):
    name: str
    path: str | None
    """Where it is installed on the machine of the Host; null if it is not."""


class PluginProgramResponse(TypedDict):
    name: str
    """Name of the permission."""
    label: str
    commands: list[ProgramCommandResponse]
    installed: bool
    """True if all its commands are installed. Any program in the folders of `programs.folders` counts as installed."""
    install: str | None
    """The command that installs it, to be typed on the machine of the Host."""
    note: LocalizedText | None
    granted: bool
    grant: str
    """The permission as `granted` of `PUT /plugins/{author}/{name}` takes it."""
    words: list[PermissionTextResponse]
    """What it may do."""
    running: int


def router(plugins: PluginManager, places: ProgramPlaces) -> APIRouter:
    routes = ApiRouter(tags=["plugins"])

    @routes.get("/plugins/{author}/{name}/programs")
    async def list_programs(author: str, name: str, principal: Viewer) -> PageResponse[PluginProgramResponse]:
        """The programs that the plugin may have started, in the order of its manifest."""
        info = plugins.get(PluginId(f"{author}/{name}"))
        if info is None:
            raise not_found(f"plugin '{author}/{name}'", "GET /api/v1/plugins lists them")
        granted = info.granted.get(process_permissions.PROCESSES, ())
        running = places.count_running(info.plugin_id)
        items = await asyncio.to_thread(_programs, info.programs, granted, places, running)
        return {"items": items, "next_cursor": None}

    return routes


def _programs(
    declared: Sequence[Mapping[str, Any]], granted: Sequence[str], places: ProgramPlaces, running: Mapping[str, int]
) -> list[PluginProgramResponse]:
    return [_program(ProcessPermission.model_validate(each), granted, places, running) for each in declared]


def _program(
    program: ProcessPermission, granted: Sequence[str], places: ProgramPlaces, running: Mapping[str, int]
) -> PluginProgramResponse:
    named = [each for each in program.commands if each != ANY_COMMAND]
    paths = {each: places.locate(each) for each in named}
    grant = process_permissions.to_text(program)
    words = describe_permissions(PluginPermissions(processes=[program]), sandboxed=True)
    return {
        "name": program.name,
        "label": program.label or program.name,
        "commands": [{"name": each, "path": str(paths[each]) if paths[each] else None} for each in named],
        "installed": all(paths.values()),
        "install": program.install or None,
        "note": program.note,
        "granted": grant in granted,
        "grant": f"{process_permissions.PROCESSES}:{grant}",
        "words": [{"key": each.key, "values": each.values, "text": each.text} for each in words],
        "running": running.get(program.name, 0),
    }
