"""Client of Discord's REST API: calls, files, and the errors of the platform port that its responses become."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, number, text
from parlour.version import VERSION

from .entities import SERVICE
from .rate_limits import DiscordRateLimits

BASE_URL = "https://discord.com/api/v10"
USER_AGENT = f"DiscordBot (https://pypi.org/project/parlour, {VERSION})"
UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_INTERACTION, ALREADY_ACKNOWLEDGED = 10003, 10004, 10062, 40060
INVALID_FORM = 50035
MAX_REASONS = 3
_MEANINGS = {
    UNKNOWN_CHANNEL: "there is no such channel, or the bot can't see it",
    UNKNOWN_GUILD: "there is no such server, or the bot is not in it",
    10007: "this person is not in the server",
    10008: "the message is not there any more",
    10013: "there is no such user",
    10014: "there is no such emoji, or the bot can't use it",
    UNKNOWN_INTERACTION: "the button was pressed too long ago",
    20016: "the channel is in slow mode",
    20028: "this channel accepts no more messages for now",
    30003: "the channel has as many pinned messages as Discord allows",
    30010: "the message has as many different reactions as Discord allows",
    30046: "this old message was edited too often; try again later",
    40005: "the file is larger than Discord takes from this bot",
    50001: "the bot has no access to this channel",
    50005: "only the author of a message can edit it",
    50006: "there is nothing in this message",
    50007: "this person accepts no direct messages from the bot",
    50013: "the bot lacks the permission for this; give its role the permission in the server",
    50024: "this can't be done in this kind of channel",
    50083: "this thread is archived",
    160002: "the bot may not read the message that it answers",
    160005: "this thread is locked",
}


class DiscordRefused(PlatformRefused):
    """Raised when Discord rejected a call. `code` is its own number of the reason; 0 if it gave none."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


class DiscordUnauthorized(DiscordRefused):
    """Raised when Discord does not know the token."""


class DiscordClient:
    """Sends calls of one bot."""

    def __init__(self, base_url: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, base_url, proxies)
        self._headers = {"Authorization": f"Bot {token}", "User-Agent": USER_AGENT}
        self._limits = DiscordRateLimits()

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        files: Sequence[OutgoingFile] = (),
        query: Mapping[str, str | int] | None = None,
    ) -> Any:
        """Makes a call and returns its result. Raises the errors of the platform port."""
        await self._limits.wait(method, path)
        return self._result(await self._send(method, path, json, files, query or {}), method, path)

    async def call_object(self, method: str, path: str, json: Any = None, **options: Any) -> Payload:
        """Makes a call whose result is an object. Raises PlatformUncertain for anything else."""
        result = await self.call(method, path, json, **options)
        if not isinstance(result, dict):
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
        return result

    async def call_list(self, path: str, **query: str | int) -> list[Payload]:
        result = await self.call("GET", path, query=query)
        return [each for each in result if isinstance(each, dict)] if isinstance(result, list) else []

    async def _send(
        self, method: str, path: str, json: Any, files: Sequence[OutgoingFile], query: Mapping[str, str | int]
    ) -> tuple[ApiRequest, ApiResponse]:
        uploads = [Upload(f"files[{place}]", each.data, each.name, each.mime_type) for place, each in enumerate(files)]
        request = ApiRequest(
            method,
            path,
            f"{method} {path.split('/')[1]}",
            json=None if uploads else json,
            form={"payload_json": dumps(json)} if uploads else {},
            uploads=uploads,
            headers=self._headers,
            query=query,
        )
        return request, await self._http.send(request)

    def _result(self, exchange: tuple[ApiRequest, ApiResponse], method: str, path: str) -> Any:
        request, response = exchange
        too_many = self._limits.record(method, path, response)
        if too_many is not None:
            raise too_many
        if 400 <= response.status < 500:
            raise _refusal(request, response)
        check_status(SERVICE, request, response, _explain)
        return response.read_json()


def _refusal(request: ApiRequest, response: ApiResponse) -> DiscordRefused:
    code = number((response.read_object() or {}).get("code")) or 0
    if response.status == 413:
        code = 40005
    reason = _MEANINGS.get(code) or _explain(response)
    sentence = f"Discord refused {request.label}: {reason or f'HTTP status {response.status}'}"
    return DiscordUnauthorized(sentence, code) if response.status == 401 else DiscordRefused(sentence, code)


def _explain(response: ApiResponse) -> str:
    """Returns Discord's own reason, with the fields that it complains about."""
    body = response.read_object() or {}
    fields = list(_field_problems(body.get("errors"), ""))[:MAX_REASONS]
    return "; ".join(fields) or text(body, "message")


def _field_problems(errors: Any, path: str) -> list[str]:
    """Returns the problems in a tree of fields, each with the path of its field."""
    if not isinstance(errors, dict):
        return []
    found = errors.get("_errors")
    own = [text(each, "message") for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    below = [each for name, value in errors.items() for each in _field_problems(value, f"{path}.{name}".lstrip("."))]
    return [f"{path or 'body'}: {each}" for each in own] + below
