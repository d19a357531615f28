"""Defines Page, the component behind a page of the plugin in the web interface.

The page itself is an HTML file. It runs in a frame without a network, and reaches only this component.
"""

from abc import ABC, abstractmethod
from typing import Any

from parlour_sdk.api import PluginAPI
from parlour_sdk.protocol.pages import PageViewer

from ..values import dataclass


class PageError(Exception):
    """Raised by a page's component with a message for the user: what was refused, and what would work."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """The user who looks at the page, and the plugin's API."""

    api: PluginAPI
    page: str
    viewer: PageViewer


class Page(ABC):
    """One instance serves all calls. The component's file names the HTML file and who may open it."""

    @abstractmethod
    async def call(self, action: str, data: Any, ctx: PageContext) -> Any:
        """Answers `parlour.call(action, data)` of the page with any JSON value. Check `ctx.viewer.role` before a
        change that not everyone who may open the page may make.
        """
