"""Endpoint with the version, limits and features of this Host."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter

from parlour.core.model.ports import Clock

from ..auth import Reader
from ..responses import Json, ResponseSchema
from .responses import Info


def router(version: str, facts: Callable[[], dict[str, Any]], clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["info"])

    @routes.get("/info")
    async def read_info(principal: Reader) -> Annotated[Json, ResponseSchema(Info)]:
        return {"version": version, "time": clock.now(), **facts()}

    return routes
