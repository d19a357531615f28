"""The platform API outside a run: each method goes to the bot that the request names."""

from collections.abc import Awaitable, Callable

from pydantic import BaseModel

from parlour.core.access.caller import Caller
from parlour.core.access.refusal import Refused
from parlour.core.access.table import ACTIONS
from parlour.core.providers import Platforms
from parlour_sdk.protocol.listing import BotCapabilities, BotList, GetBotCapabilities, ListBots
from parlour_sdk.protocol.platform_api import PlatformCall


class PlatformActions:
    def __init__(self, platforms: Platforms) -> None:
        self._platforms = platforms

    def methods(self) -> dict[str, Callable[[Caller, PlatformCall], Awaitable[BaseModel]]]:
        """Every action whose request goes to a bot."""
        requests = {name: action.wire.request for name, action in ACTIONS.items()}
        return {name: self._method(name) for name, request in requests.items() if issubclass(request, PlatformCall)}

    def _method(self, name: str) -> Callable[[Caller, PlatformCall], Awaitable[BaseModel]]:
        answer = ACTIONS[name].wire.answer

        async def call(caller: Caller, request: PlatformCall) -> BaseModel:
            arguments = request.model_dump(exclude={"call_id", "run_id", "lease", "bot_id"})
            told = await self._platforms.call(caller.asking(), request.bot_id, name, arguments)
            return answer.model_validate(told if told is not None else {})

        return call

    async def bots(self, caller: Caller, request: ListBots) -> BotList:
        return BotList(bots=list(self._platforms.bots()))

    async def capabilities(self, caller: Caller, request: GetBotCapabilities) -> BotCapabilities:
        found = self._platforms.capabilities(request.bot_id)
        if found is None:
            raise Refused("not_found", f"there is no bot '{request.bot_id}'")
        return found
