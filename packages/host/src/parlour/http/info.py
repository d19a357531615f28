"""Endpoint with the version, limits and features of this Host."""

from collections.abc import Callable

from fastapi import APIRouter
from typing_extensions import TypedDict

from .api_router import ApiRouter
from .auth import Reader
from .responses import TimestampMs


class SizeLimitsResponse(TypedDict):
    body_bytes: int
    chat_frame_bytes: int
    upload_bytes: int


class Info(TypedDict):
    version: str
    time: TimestampMs
    protocol: int
    """The edition of the protocol."""
    limits: SizeLimitsResponse
    outbound_ips: list[str]
    """Addresses that this Host reaches platforms from."""
    time_zone: str
    currency: str
    """The code of the currency that costs are in; empty where the providers' prices are in several, or unknown."""
    features: dict[str, bool]
    """What this Host can do."""


def router(info: Callable[[], Info]) -> APIRouter:
    routes = ApiRouter(tags=["info"])

    @routes.get("/info")
    async def read_info(principal: Reader) -> Info:
        return info()

    return routes
