"""Endpoints to read and change settings that take effect immediately. Settings that need a restart are in the settings
file."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.config.live_settings import LiveSettings, SettingValues
from parlour.core.journal import Insert
from parlour.core.model.ports import Clock

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..etags import IfMatch, check_if_match, set_etag
from ..principals import Principal
from ..responses import Json, ResponseSchema
from .schemas import Sections, SettingsRequest, request_schema, response_schema


def router(tuning: LiveSettings, sections: Sections, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["settings"])
    turn = asyncio.Lock()
    """Serializes changes of settings."""

    def entry(principal: Principal, before: SettingValues, after: SettingValues) -> Insert:
        return audit.change_entry(
            principal.owner, "settings.change", "settings", dict(before), dict(after), clock.now()
        )

    async def read_settings(principal: Viewer, response: Response) -> Json:
        set_etag(response, tuning.values())
        return to_response(tuning)

    async def change_settings(
        body: SettingsRequest, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Json:
        """What is left out stays as it is; null takes a change back. It acts at once and outlives a restart."""
        async with turn:
            check_if_match("what the settings say", if_match, tuning.values())
            await tuning.update(dict(body.iter_changes()), partial(entry, principal))
        set_etag(response, tuning.values())
        return to_response(tuning)

    change_settings.__annotations__["body"] = request_schema(sections)
    response_type = Annotated[Json, ResponseSchema(response_schema(sections))]
    for method, endpoint in (("GET", read_settings), ("PUT", change_settings)):
        endpoint.__annotations__["return"] = response_type
        routes.add_api_route("/settings", endpoint, methods=[method])
    return routes


def to_response(tuning: LiveSettings) -> dict[str, Any]:
    sections: dict[str, dict[str, Any]] = {}
    for name, value in tuning.values().items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    return {**sections, "changed": tuning.overridden_names()}
