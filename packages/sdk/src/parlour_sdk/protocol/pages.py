"""What the Host asks of a plugin's pages in the web interface."""

from typing import Any, Literal

from pydantic import Field

from .base import Request, Strict

PageRole = Literal["viewer", "operator", "admin", "owner"]
"""Role of a user of the web interface; each includes those before it."""


class PageViewer(Request):
    """The user who looks at a page, or the API key that calls it."""

    id: str
    name: str = ""
    role: PageRole


class PageRead(Request):
    """The Host wants to show a page."""

    page: str


class PageDocument(Strict):
    """The HTML of a page."""

    html: str


class PageCall(Request):
    """A page calls its plugin."""

    page: str
    action: str = Field(min_length=1, max_length=100)
    data: Any = None
    viewer: PageViewer


class PageAnswer(Strict):
    """The answer to the page: data, or the reason why the plugin refused."""

    data: Any = None
    error: str | None = None
