"""Client of Slack's Web API: calls, files, and the errors of the platform port that its answers become."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import urlsplit

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, object_in, objects_in, text

from .entities import SERVICE

BASE_URL = "https://slack.com/api"
SCOPES_HEADER = "X-OAuth-Scopes"
FILE_DOMAINS = (".slack.com", ".slack-edge.com", ".slack-files.com")
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
PAGE_SIZE, MAX_PAGES = 200, 100
TOKEN_ERRORS = ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired")
_MEANINGS = {
    "account_inactive": "the app was removed from the workspace; install it again and copy the new token",
    "already_reacted": "the bot has this reaction already",
    "cant_delete_message": "the bot can delete only its own messages",
    "cant_kick_from_general": "nobody can be removed from the general channel",
    "cant_update_message": "the bot can edit only its own messages",
    "cannot_dm_bot": "Slack has no direct messages between bots",
    "channel_not_found": "there is no such channel, or the bot can't see it; invite it with /invite",
    "edit_window_closed": "this message can't be edited any more",
    "file_uploads_disabled": "this workspace accepts no files",
    "invalid_name": "Slack knows no emoji of this name",
    "is_archived": "the channel is archived",
    "message_not_found": "the message is not there any more",
    "missing_scope": "the app lacks a permission",
    "msg_too_long": "the text is longer than Slack takes",
    "name_taken": "there is another channel of this name",
    "no_reaction": "the bot does not have this reaction",
    "no_text": "there is nothing in this message",
    "not_allowed_token_type": "this is another kind of token than is needed here",
    "not_authed": "a token is needed",
    "not_in_channel": "the bot is not in the channel; invite it with /invite",
    "restricted_action": "an administrator of the workspace does not allow this",
    "thread_not_found": "the thread is not there any more",
    "token_expired": "the token has expired",
    "token_revoked": "the token was revoked",
    "too_many_reactions": "the message has as many reactions as Slack allows",
    "user_not_found": "there is no such user",
}


class SlackRefused(PlatformRefused):
    """Raised when Slack rejected a call. `code` is its own name of the reason."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


class SlackClient:
    """Makes the calls of one bot. Slack answers almost all of them with status 200, and the outcome in the body."""

    def __init__(self, base_url: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, base_url, proxies)
        self._host = urlsplit(base_url).netloc
        self._token = token

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def call(self, method: str, token: str = "", **params: Any) -> Payload:
        """Makes a call and returns its answer. Raises the errors of the platform port."""
        return (await self._call(method, token, params))[0]

    async def identify(self) -> tuple[Payload, frozenset[str] | None]:
        """Returns whose token it is, and its scopes; None if the server does not name them."""
        answer, response = await self._call("auth.test", "", {})
        granted = response.headers.get(SCOPES_HEADER)
        return answer, None if granted is None else frozenset(each.strip() for each in granted.split(","))

    async def _call(self, method: str, token: str, params: Mapping[str, Any]) -> tuple[Payload, ApiResponse]:
        form = {name: value for name, value in params.items() if value is not None}
        headers = {"Authorization": f"Bearer {token or self._token}"}
        request = ApiRequest("POST", f"/{method}", method, form=form, headers=headers)
        response = check_status(SERVICE, request, await self._http.send(request), _explain)
        answer = response.read_object()
        if answer is None:
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
        if answer.get("ok") is not True:
            raise _refusal(method, answer)
        return answer, response

    async def pages(self, method: str, field: str, **params: Any) -> AsyncIterator[Payload | str]:
        """Yields the items of all pages of a list."""
        cursor = ""
        for _ in range(MAX_PAGES):
            answer = await self.call(method, limit=PAGE_SIZE, cursor=cursor or None, **params)
            items = answer.get(field)
            for each in items if isinstance(items, list) else []:
                yield each
            cursor = text(object_in(answer, "response_metadata"), "next_cursor")
            if not cursor:
                return

    async def download(self, url: str) -> bytes:
        """Returns the content of a file of a message. Raises the errors of the platform port."""
        if not self._is_own_address(url):
            raise PlatformRefused("its address is none of Slack", permanent=True)
        request = ApiRequest(
            "GET", url, "a file", headers={"Authorization": f"Bearer {self._token}"}, max_bytes=MAX_DOWNLOAD_BYTES
        )
        response = check_status(SERVICE, request, await self._http.send(request), _explain)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if response.status >= 300 or (is_page and b"<html" in response.body[:1000].lower()):
            raise PlatformRefused("Slack asked for a login; the app needs the scope files:read", permanent=True)
        return response.body

    async def upload(
        self, files: Sequence[OutgoingFile], channel_id: str, thread_id: str, comment: str
    ) -> list[Payload]:
        """Uploads files and shows them in one message with the comment."""
        known = []
        for file in files:
            place = await self.call("files.getUploadURLExternal", filename=file.name, length=str(len(file.data)))
            request = ApiRequest("POST", text(place, "upload_url"), "the upload of a file", data=file.data)
            check_status(SERVICE, request, await self._http.send(request), _explain)
            known.append({"id": text(place, "file_id"), "title": file.name})
        answer = await self.call(
            "files.completeUploadExternal",
            files=known,
            channel_id=channel_id,
            thread_ts=thread_id or None,
            initial_comment=comment or None,
        )
        return objects_in(answer, "files")

    def _is_own_address(self, url: str) -> bool:
        """Returns whether the token may be sent to this address: to Slack, or to the configured server."""
        parts = urlsplit(url)
        is_slack = parts.scheme == "https" and (parts.hostname or "").endswith(FILE_DOMAINS)
        return is_slack or (parts.scheme in ("http", "https") and parts.netloc == self._host)


def _refusal(method: str, answer: Payload) -> PlatformRefused:
    code = text(answer, "error") or "no reason was given"
    if code == "ratelimited":
        return PlatformRefused(f"Slack refused {method}: there were too many calls", retry_after=1.0)
    details = [text(answer, "needed")] if code == "missing_scope" else _messages(answer)
    reason = "; ".join(filter(None, (_MEANINGS.get(code, code), *details)))
    return SlackRefused(f"Slack refused {method}: {reason}"[:500], code)


def _messages(answer: Payload) -> list[str]:
    found = object_in(answer, "response_metadata").get("messages")
    return [each for each in found if isinstance(each, str)][:3] if isinstance(found, list) else []


def _explain(response: ApiResponse) -> str:
    return text(response.read_object() or {}, "error")
