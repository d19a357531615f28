"""Endpoints to read and change settings that take effect immediately. Settings that need a restart are in the settings
file."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.config.live_settings import Tuning, Values
from parlour.core.journal import Insert
from parlour.core.model.ports import Clock

from ..auth import Admin, Viewer
from ..etags import IfMatch, check, tell
from ..principals import Principal
from ..responses import Answer, Json
from .responses import SettingsShown
from .schemas import SettingsBody


def router(tuning: Tuning, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["settings"])
    turn = asyncio.Lock()
    """Serializes changes of settings."""

    def entry(principal: Principal, before: Values, after: Values) -> Insert:
        return audit.admin(principal.owner, "settings.change", "settings", dict(before), dict(after), clock.now())

    @routes.get("/settings")
    async def read_settings(principal: Viewer, response: Response) -> Annotated[Json, Answer(SettingsShown)]:
        tell(response, tuning.values())
        return shown(tuning)

    @routes.put("/settings")
    async def change_settings(
        body: SettingsBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(SettingsShown)]:
        """What is left out stays as it is; null takes a change back. It acts at once and outlives a restart."""
        async with turn:
            check("what the settings say", if_match, tuning.values())
            await tuning.change(dict(body.wishes()), partial(entry, principal))
        tell(response, tuning.values())
        return shown(tuning)

    return routes


def shown(tuning: Tuning) -> dict[str, Any]:
    sections: dict[str, dict[str, Any]] = {}
    for name, value in tuning.values().items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    return {**sections, "changed": tuning.changed()}
