"""Endpoints of the addresses that a platform's console asks for, and of the check of the callback address."""

from collections.abc import Callable
from typing import Any

from typing_extensions import TypedDict

from parlour.core.model.ids import BotId

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from .callback_check import CallbackCheck, CallbackCheckResponse


class BotAddresses(TypedDict):
    takes_calls: bool
    """The platform calls this bot, so that its console needs the callback address."""
    callback: str | None
    """Null if the public address of the Host is not set."""
    outbound_ips: list[str]
    """The addresses from which this Host calls the platform, for its allowlist."""


def add_address_routes(
    routes: ApiRouter,
    find_bot: Callable[[BotId], Any],
    takes_calls: Callable[[BotId], bool],
    check: CallbackCheck,
) -> None:
    """Registers the routes of addresses."""

    @routes.get("/bots/{bot_id}/addresses")
    async def read_bot_addresses(bot_id: BotId, principal: Viewer) -> BotAddresses:
        find_bot(bot_id)
        address = check.address(bot_id) or None
        return {"takes_calls": takes_calls(bot_id), "callback": address, "outbound_ips": check.outbound_ips()}

    @routes.post("/bots/{bot_id}/addresses/check")
    async def check_bot_address(bot_id: BotId, principal: Admin) -> CallbackCheckResponse:
        """Calls the callback address as the platform would, and returns what it would see."""
        find_bot(bot_id)
        return await check.check(bot_id)
