"""Tool that reads a page of the public web as text, with limits on size and time.

Permitted addresses are checked when a socket is created; the HTTP client is imported on first use.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from parlour.core.model.providers import CallContext
from parlour.network.address_guard import AddressAllowlist, AddressRefused, NameUnresolved, guarded_connector
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.values import dataclass

from ..source import OfferedTool, error_outcome, text_outcome
from .tools import PROVIDER

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MAX_PAGE_BYTES = 1024 * 1024
"""Maximum number of bytes that are read of a page."""
MAX_REDIRECTS = 5
HTML = ("text/html", "application/xhtml+xml")
TEXT = ("application/json", "application/xml", "application/javascript", "application/yaml", "application/x-yaml")
HEADERS: Mapping[str, str] = {
    "User-Agent": "Parlour (web.fetch)",
    "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.5",
}


@dataclass(frozen=True, slots=True)
class WebPage:
    address: str
    kind: str
    charset: str
    content: bytes
    cut: str = ""
    """Reason why the rest is missing."""


class WebFetch:
    definition = OfferedTool(
        "web.fetch",
        "native",
        PROVIDER,
        "Reads a page of the public web and gives its text. Follows redirects; runs no scripts.",
        {
            "type": "object",
            "properties": {"url": {"type": "string", "description": "An address that begins with https:// or http://"}},
            "required": ["url"],
            "additionalProperties": False,
        },
        read_only=True,
    )

    def __init__(self, allowed: AddressAllowlist, seconds: float) -> None:
        self._allowed = allowed
        self._seconds = seconds

    async def call(self, context: CallContext, parameters: dict[str, Any]) -> ToolOutcome:
        url = parameters["url"].strip()
        refusal = _problem(url)
        if refusal:
            return error_outcome(f"url: {refusal}")
        from aiohttp import ClientError

        try:
            page = await self._fetched(url)
        except ClientError as error:
            return error_outcome(_describe_error(error))
        except TimeoutError:
            return error_outcome(f"the page did not answer within {self._seconds:g} s")
        if isinstance(page, str):
            return error_outcome(page)
        return text_outcome(await asyncio.to_thread(_readable, page))

    async def _fetched(self, url: str) -> WebPage | str:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar

        session = ClientSession(
            connector=guarded_connector(self._allowed),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None, sock_connect=self._seconds),
            headers=HEADERS,
        )
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds
        async with session:
            async with asyncio.timeout_at(deadline):
                response = await session.get(url, max_redirects=MAX_REDIRECTS)
            async with response:
                refusal = _unusable(response)
                return refusal or await _read(response, deadline)


async def _read(response: "ClientResponse", deadline: float) -> WebPage:
    """Reads what arrives in time and fits."""
    content, truncation = bytearray(), ""
    try:
        async with asyncio.timeout_at(deadline):
            async for piece in response.content.iter_any():
                content += piece
                if len(content) >= MAX_PAGE_BYTES:
                    truncation = f"after {MAX_PAGE_BYTES} bytes"
                    break
    except TimeoutError:
        truncation = "because the page took too long"
    charset = response.charset or "utf-8"
    return WebPage(str(response.url), response.content_type, charset, bytes(content[:MAX_PAGE_BYTES]), truncation)


def _readable(page: WebPage) -> str:
    """Converts a page to text. It runs in a thread, because a page may be long and parsing slow."""
    try:
        text = page.content.decode(page.charset, errors="replace")
    except LookupError:  # an unknown character set
        text = page.content.decode(errors="replace")
    if page.kind in HTML:
        from .html_text import extract_text

        text = extract_text(text, page.address)
    return f"{page.address}\n\n{text}" + (f"\n\n[cut {page.cut}]" if page.cut else "")


def _problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 — read to be checked
    except ValueError:
        return "this is no address; one looks like https://example.org/page"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "only addresses that begin with https:// or http:// and name a host are read"
    return "an address with a user name or password is not read" if parts.username or parts.password else ""


def _unusable(response: "ClientResponse") -> str:
    """Returns why the response has no text to read; empty if it has."""
    if response.status >= 400:
        return f"{response.url.host} answered {response.status} {response.reason or ''}".strip()
    kind = response.content_type
    if kind.startswith("text/") or kind in TEXT or kind in HTML or kind.endswith(("+json", "+xml")):
        return ""
    size = response.content_length
    return f"this is no text but {kind}{f' of {size} bytes' if size is not None else ''}; only text is read"


def _describe_error(error: Exception) -> str:
    from aiohttp import ClientConnectorError, InvalidURL, NonHttpUrlClientError, TooManyRedirects

    match error:
        case ClientConnectorError(os_error=AddressRefused() | NameUnresolved() as refusal):
            return str(refusal)
        case ClientConnectorError():
            return f"{error.host} can't be reached: {error.os_error.strerror or error.os_error}"
        case TooManyRedirects():
            return f"the page redirects more than {MAX_REDIRECTS} times"
        case NonHttpUrlClientError():
            return "the page redirects to something that is not the web"
        case InvalidURL():
            return "url: this is no address; one looks like https://example.org/page"
        case _:
            return f"the page can't be read: {type(error).__name__}"
