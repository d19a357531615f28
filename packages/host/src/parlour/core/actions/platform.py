"""Actions of the platform API outside a run: each method is called on the bot that the request names."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel

from parlour.core.errors import CallRejected
from parlour.core.model.ids import BotId
from parlour.core.model.providers import Platforms
from parlour.core.plugin_hooks.direct_replies import DirectReplies
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.protocol.listing import BotCapabilities, BotList, GetBotCapabilities, ListBots
from parlour_sdk.protocol.platform_api import PlatformCall, ReplyMessage, UploadedFile, UploadFile

from .chunked_uploads import ChunkedUploads
from .handlers import Handler


class PlatformActions:
    def __init__(self, platforms: Platforms, direct: DirectReplies, uploads: ChunkedUploads) -> None:
        self._platforms = platforms
        self._direct = direct
        self._uploads = uploads

    def handlers(self) -> dict[str, Handler]:
        return {"list_bots": self.bots, "get_bot_capabilities": self.capabilities, **self._bot_handlers()}

    def _bot_handlers(self) -> dict[str, Callable[[ActionCaller, PlatformCall], Awaitable[BaseModel]]]:
        """Returns the handlers of all actions whose request names a bot."""
        requests = {name: action.request for name, action in HOST_ACTIONS.items()}
        handlers = {name: self._method(name) for name, request in requests.items() if issubclass(request, PlatformCall)}
        return {**handlers, "upload_file": self._upload, "reply_message": self._reply}

    def _method(self, name: str) -> Callable[[ActionCaller, PlatformCall], Awaitable[BaseModel]]:
        answer = HOST_ACTIONS[name].answer

        async def call(caller: ActionCaller, request: PlatformCall) -> BaseModel:
            arguments = request.model_dump(exclude={"call_id", "run_id", "lease", "bot_id"})
            _refuse_paths(arguments)
            response = await self._platforms.call(caller.call_context(), BotId(request.bot_id), name, arguments)
            return answer.model_validate(response if response is not None else {})

        return call

    async def _reply(self, caller: ActionCaller, request: PlatformCall) -> BaseModel:
        """Replies to an event: through the Host itself if it came over HTTP or in the web chat."""
        assert isinstance(request, ReplyMessage)
        _refuse_paths(request.model_dump())
        sent = await self._direct.reply(request)
        return sent if sent is not None else await self._method("reply_message")(caller, request)

    async def _upload(self, caller: ActionCaller, request: PlatformCall) -> BaseModel:
        assert isinstance(request, UploadFile)
        upload_id, content = self._uploads.add_chunk(caller.plugin_id, request)
        if content is None:
            return UploadedFile(upload_id=upload_id)
        arguments = {"content_base64": base64.b64encode(content).decode(), "filename": request.filename}
        response = await self._platforms.call(caller.call_context(), BotId(request.bot_id), "upload_file", arguments)
        return UploadedFile.model_validate(response if response is not None else {})

    async def bots(self, caller: ActionCaller, request: ListBots) -> BotList:
        return BotList(bots=list(self._platforms.bots()))

    async def capabilities(self, caller: ActionCaller, request: GetBotCapabilities) -> BotCapabilities:
        capabilities = self._platforms.capabilities(BotId(request.bot_id))
        if capabilities is None:
            raise CallRejected("not_found", f"there is no bot '{request.bot_id}'")
        return capabilities


def _refuse_paths(value: Any, field: str = "") -> None:
    """Raises CallRejected if a message part has a path, which would be read on the Host's machine."""
    if isinstance(value, list):
        for number, each in enumerate(value):
            _refuse_paths(each, f"{field}.{number}")
    elif isinstance(value, dict):
        for name, each in value.items():
            inner = f"{field}.{name}".lstrip(".")
            if name == "path" and each is not None and "type" in value:
                raise CallRejected(
                    "invalid_argument", f"{inner}: a path is not taken; send the content as base64, or a url"
                )
            _refuse_paths(each, inner)
