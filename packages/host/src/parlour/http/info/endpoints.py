"""Endpoint with the version, limits and features of this Host."""

from collections.abc import Callable

from fastapi import APIRouter

from ..api_router import ApiRouter
from ..auth import Reader
from .responses import Info


def router(info: Callable[[], Info]) -> APIRouter:
    routes = ApiRouter(tags=["info"])

    @routes.get("/info")
    async def read_info(principal: Reader) -> Info:
        return info()

    return routes
