"""Runs a bot on a mailbox: checks both servers, watches the folder, and connects again after a failure."""

import asyncio
from collections import deque

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    IncomingEvent,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.unreachable import OFFLINE_RETRY_SECONDS, with_advice
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformSpecific

from .api import EmailApi
from .configuration import NAME, read_settings
from .decode import ReceivedMail, decode, facts
from .imap import WrongPassword
from .mailbox import Mailbox, Threads
from .smtp import SmtpClient
from .watcher import FolderWatcher

MIN_STABLE_SECONDS = 30.0
MAX_LOGINS = 3
"""Number of refused logins after which the bot stops: servers lock accounts after a few more."""
HOUR_SECONDS = 3600.0
CHECK_SERVERS = "check the network, and host, port and protection of this server"


class EmailAdapter:
    """Adapter of one mailbox."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        self._link = link
        self._backoff = backoff
        self._settings = read_settings(link.config)
        self._mailbox = Mailbox(self._settings)
        self._threads = Threads(self._mailbox, self._settings)
        self._watcher = FolderWatcher(link, self._settings, self._decode)
        self._api = EmailApi(self._settings, self._mailbox, self._threads, link.content)
        self._received: BoundedMap[str, deque[float]] = BoundedMap()
        self._failed_logins = 0

    async def serve(self) -> None:
        self._link.report_status("connecting")
        loop = asyncio.get_running_loop()
        try:
            while True:
                started_at = loop.time()
                problem, delay = await self._attempt()
                if loop.time() - started_at > MIN_STABLE_SECONDS:
                    self._backoff.reset()
                    self._failed_logins = 0
                seconds = max(self._backoff.next_delay(), delay)
                self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)
        finally:
            self._mailbox.close()

    def api(self, account: str = "") -> EmailApi:
        return self._api

    async def _attempt(self) -> tuple[str, float]:
        """Serves the mailbox until something fails. Returns the problem and the least time to wait in seconds."""
        settings = self._settings
        try:
            smtp = await SmtpClient.open(settings.smtp, settings.username, settings.password)
            await smtp.quit()
            await self._watcher.serve()
        except WrongPassword as refused:
            self._failed_logins += 1
            if self._failed_logins >= MAX_LOGINS:
                message = (
                    f"{refused.reason}; check username and password. Gmail, Outlook, QQ and 163.com want a password "
                    "for apps (an authorization code) instead of the account's own"
                )
                raise AdapterStopped(message) from None
            return refused.reason, 0.0
        except PlatformRefused as refused:
            wait = refused.retry_after or 0.0
            return with_advice(refused, CHECK_SERVERS), wait if wait > OFFLINE_RETRY_SECONDS else 0.0
        except PlatformUncertain as error:
            return str(error), 0.0
        return "the IMAP server ended the connection", 0.0

    async def _decode(self, mail: ReceivedMail) -> list[IncomingEvent]:
        """Decodes a mail after its thread was looked up, and remembers it for answers."""
        root = await self._threads.root(mail.message)
        mail = ReceivedMail(mail.message, mail.received_at, mail.is_cut, root)
        return [self._limited(each, mail) for each in decode(mail, self._link.bot_id, self._settings)]

    def _limited(self, incoming: IncomingEvent, mail: ReceivedMail) -> IncomingEvent:
        """Replaces a message beyond the hourly limit of its sender, which ends loops that nothing else recognized."""
        event = incoming.event
        if not isinstance(event, MessageReceived):
            return incoming
        self._threads.note(facts(mail.message, mail.thread, self._settings))
        now = asyncio.get_running_loop().time()
        address = event.sender.username or event.sender.id
        times = self._received.get(address) or deque()
        self._received.set(address, times)
        while times and times[0] < now - HOUR_SECONDS:
            times.popleft()
        if len(times) < self._settings.hourly_limit:
            times.append(now)
            return incoming
        reason = f"its sender has written {len(times)} mails within an hour (hourly_limit)"
        data = {"sender_id": event.sender.id, "message_id": event.message_id, "reason": reason}
        limited = PlatformSpecific(
            type=f"platform.{NAME}.limited",
            action="limited",
            data=data,
            event_id=event.event_id,
            timestamp=event.timestamp,
            bot_id=event.bot_id,
            adapter_name=NAME,
        )
        return IncomingEvent(limited, self_id=incoming.self_id)


def adapter_factory() -> AdapterFactory:
    return lambda link: EmailAdapter(link, Backoff())
