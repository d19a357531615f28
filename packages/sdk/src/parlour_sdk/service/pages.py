"""Serves a plugin's pages: their HTML, and the calls that they make."""

import logging
from typing import Any

from pydantic_core import to_jsonable_python

from parlour_sdk.api import PluginAPI
from parlour_sdk.components.page import PageContext, PageError
from parlour_sdk.plugin.loaded_plugin import LoadedPlugin
from parlour_sdk.protocol.limits import PAGE_HTML_BYTES
from parlour_sdk.protocol.pages import PageAnswer, PageCall, PageDocument, PageRead
from parlour_sdk.wire import WireError

from .requests import COMPONENT_FAILURES, parse_request, to_json_dict, to_wire_error

logger = logging.getLogger("parlour.worker")


class PageService:
    def __init__(self, plugin: LoadedPlugin, api: PluginAPI) -> None:
        self._plugin = plugin
        self._api = api

    async def read_page(self, data: Any) -> dict[str, Any]:
        request = parse_request(PageRead, data, "read_page")
        file = self._plugin.page_files.get(request.page)
        if file is None:
            raise _unknown(request.page)
        try:
            content = file.read_bytes()
            if len(content) > PAGE_HTML_BYTES:
                raise WireError("too_large", f"the page '{request.page}' has more than {PAGE_HTML_BYTES} bytes")
            return to_json_dict(PageDocument(html=content.decode("utf-8-sig")))
        except (OSError, UnicodeDecodeError) as error:
            raise to_wire_error(f"the file of the page '{request.page}'", error) from error

    async def call_page(self, data: Any) -> dict[str, Any]:
        request = parse_request(PageCall, data, "call_page")
        page = self._plugin.pages.get(request.page)
        if page is None and request.page in self._plugin.page_files:
            raise WireError("not_supported", f"the page '{request.page}' has no code to call")
        if page is None:
            raise _unknown(request.page)
        context = PageContext(self._api, request.page, request.viewer)
        try:
            answer = await page.call(request.action, request.data, context)
            return to_json_dict(PageAnswer(data=to_jsonable_python(answer)))
        except PageError as refusal:
            return to_json_dict(PageAnswer(error=str(refusal)))
        except COMPONENT_FAILURES as error:
            raise to_wire_error(f"the page '{request.page}'", error) from error


def _unknown(page: str) -> WireError:
    return WireError("not_found", f"this plugin has no page '{page}'")
