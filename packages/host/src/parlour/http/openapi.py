"""Serves the OpenAPI document of this release. `make documents` writes it, and a test compares it with the routes."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse

from .api_router import ApiRouter

FILE = Path(__file__).with_name("openapi.json")


def router() -> APIRouter:
    routes = ApiRouter()

    @routes.get("/openapi.json", include_in_schema=False)
    async def read_document() -> FileResponse:
        return FileResponse(FILE, media_type="application/json")

    return routes
