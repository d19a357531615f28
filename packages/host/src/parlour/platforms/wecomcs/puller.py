"""Fetches the messages of WeCom customer service: WeCom only says that there are some.

The position of each account is stored together with the messages before it, so that nothing is lost or read twice.
WeCom keeps messages for three days.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from functools import partial

from parlour.core.encoding import dumps
from parlour.core.journal import retry_on_storage_failure
from parlour.core.platforms.port import HostLink, IncomingEvent, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.errcode_client import ErrcodeClient
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.wechat_content import FILE_KINDS, fetch_file

from .api import WecomCsApi
from .decode import CUSTOMER_KEY, FILE_KEY, STAFF, customer_of, decode

logger = logging.getLogger(__name__)

PAGE_MESSAGES = 50
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0


class WecomCsPuller:
    """Fetches and stores the messages of all accounts, one page at a time."""

    def __init__(
        self, link: HostLink, client: ErrcodeClient, customers: UserCache, api: WecomCsApi, welcome: str
    ) -> None:
        self._link = link
        self._client = client
        self._customers = customers
        self._api = api
        self._welcome = welcome
        self._turn = asyncio.Lock()
        self._positions: dict[str, str] | None = None
        self._begun = 0
        self._finished: dict[str, int] = {}
        """Numbers of the last finished fetch of each account."""

    async def accounts(self) -> list[str]:
        """Returns the accounts that had messages."""
        return list(await self._stored())

    async def pull(self, account_id: str, token: str = "") -> bool:
        """Stores all new messages of an account; tries again while WeCom can't be reached. Returns False if it refused.

        A call that waits while another one begins and ends has nothing left to fetch.
        """
        request, delay = self._begun, FIRST_RETRY_SECONDS
        while True:
            try:
                async with self._turn:
                    if self._finished.get(account_id, 0) <= request:
                        await self._pull_pages(account_id, token)
                if delay > FIRST_RETRY_SECONDS:
                    self._link.report_status("connected")
                return True
            except (PlatformRefused, PlatformUncertain) as error:
                seconds = delay
                if isinstance(error, PlatformRefused):
                    if error.permanent and not token:
                        self._link.report_status("connected", str(error))
                        return False
                    if error.permanent:
                        token = ""  # it is valid for ten minutes; without one, messages are fetched at a lower rate
                    seconds = max(delay, error.retry_after or 0)
                self._link.report_status("connected", f"{error}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)
                delay = min(delay * 2, MAX_RETRY_SECONDS)

    async def _pull_pages(self, account_id: str, token: str) -> None:
        self._begun += 1
        begun = self._begun
        pull_page = partial(self._pull_page, account_id, token)
        while await retry_on_storage_failure(pull_page, f"messages of bot {self._link.bot_id}"):
            pass
        self._finished[account_id] = begun

    async def _pull_page(self, account_id: str, token: str) -> bool:
        """Stores one page. Returns whether there are more."""
        positions = await self._stored()
        request: Payload = {"open_kfid": account_id, "limit": PAGE_MESSAGES, "voice_format": 0}
        request |= {"cursor": positions[account_id]} if positions.get(account_id) else {}
        request |= {"token": token} if token else {}
        answer = await self._client.post("kf/sync_msg", request)
        found = answer.get("msg_list")
        messages = found if isinstance(found, list) else []
        complete = await asyncio.gather(*map(self._complete, messages))
        events = [event for each in complete if (event := decode(each, self._link.bot_id)) is not None]
        position = text(answer, "next_cursor") or positions.get(account_id, "")
        stored = {**positions, account_id: position}
        await self._store(events, stored)
        self._positions = stored
        await self._greet(messages)
        return answer.get("has_more") == 1 and position != positions.get(account_id, "")

    async def _store(self, events: list[IncomingEvent], positions: Mapping[str, str]) -> None:
        await self._link.receive(*events, cursor=dumps({"positions": positions}))

    async def _stored(self) -> dict[str, str]:
        if self._positions is None:
            try:
                stored = json.loads(await self._link.cursor() or "{}")
            except ValueError:
                stored = {}
            positions = object_in(stored if isinstance(stored, dict) else {}, "positions")
            self._positions = {name: each for name, each in positions.items() if isinstance(each, str)}
        return self._positions

    async def _complete(self, message: Payload) -> Payload:
        """Adds what WeCom provides only on request: the customer's name, and the content of a file."""
        if not isinstance(message, dict) or message.get("origin") == STAFF:
            return message
        kind = text(message, "msgtype")
        message = {**message, CUSTOMER_KEY: await self._customers.find(customer_of(message))}
        media_id = text(object_in(message, kind), "media_id")
        if kind in FILE_KINDS and media_id:
            message[FILE_KEY] = await fetch_file(self._client, media_id)
        return message

    async def _greet(self, messages: list[Payload]) -> None:
        """Greets customers who opened the conversation. That they did so is stored, so that they are greeted once."""
        for message in messages if self._welcome else ():
            event = object_in(message, "event") if isinstance(message, dict) else {}
            code = text(event, "welcome_code")
            if not code or text(event, "event_type") != "enter_session":
                continue
            try:
                await self._api.welcome(code, self._welcome)
            except (PlatformRefused, PlatformUncertain) as error:
                logger.info("bot %s: a customer was not greeted: %s", self._link.bot_id, error)
