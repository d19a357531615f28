"""What this Host is: its version, its limits, and what it can do."""

from typing import Any

from fastapi import APIRouter

from parlour.core.ports import Clock

from ..auth import Reader


def router(version: str, facts: dict[str, Any], clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["info"])

    @routes.get("/info")
    async def read_info(principal: Reader) -> dict[str, Any]:
        return {"version": version, "time": clock.now(), **facts}

    return routes
