"""Endpoints of the pages that plugins have in the web interface: their HTML for a sandboxed frame, and the calls that
the web interface makes for them.
"""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour_sdk.protocol.pages import PageRole

from ..api_router import ApiRouter
from ..auth import Viewer
from ..responses import LocalizedText, PageResponse
from .page_document import document_response
from .pages import PluginPage, PluginPages


class PageCallBody(BaseModel):
    """What the page called: `parlour.call(action, data)`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"action": "list", "data": {"page": 1}}]})

    action: str = Field(min_length=1, max_length=100)
    data: Any = None


class PluginPageResponse(TypedDict):
    """A page of a plugin."""

    name: str
    label: LocalizedText | None
    description: LocalizedText | None
    role: PageRole
    """The lowest role that may open it."""


class PageCallResponse(TypedDict):
    """The answer of the plugin."""

    data: Any


def router(pages: PluginPages) -> APIRouter:
    routes = ApiRouter(tags=["plugins"])

    @routes.get("/plugins/{author}/{name}/pages")
    async def list_plugin_pages(author: str, name: str, principal: Viewer) -> PageResponse[PluginPageResponse]:
        """The plugin's pages in the web interface; none while it does not run."""
        return {"items": [_to_response(each) for each in pages.all(author, name)], "next_cursor": None}

    @routes.get(
        "/plugins/{author}/{name}/pages/{page}/document",
        response_class=Response,
        responses={200: {"content": {"text/html": {}}}},
    )
    async def read_plugin_page(author: str, name: str, page: str, principal: Viewer) -> Response:
        """The HTML of a page, for a frame of the web interface. It has no network, no cookies and no origin."""
        found = pages.get(author, name, page, principal)
        return document_response(await pages.document(found), principal)

    @routes.post("/plugins/{author}/{name}/pages/{page}/calls")
    async def call_plugin_page(
        author: str, name: str, page: str, body: PageCallBody, principal: Viewer
    ) -> PageCallResponse:
        """Calls the plugin's code behind the page with the role of the caller. Each call is audited."""
        found = pages.get(author, name, page, principal)
        return {"data": await pages.call(found, body.action, body.data, principal)}

    return routes


def _to_response(page: PluginPage) -> PluginPageResponse:
    return {
        "name": page.name,
        "label": page.label,
        "description": page.description,
        "role": page.spec.role,
    }
