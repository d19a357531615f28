"""Runs one enabled bot: connects its adapter and connects it again after a failure. It knows no other bot."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from parlour.core.backoff import Backoff
from parlour.core.config.bots import Bot
from parlour.core.platforms.bot_config import decrypt_config
from parlour.core.platforms.port import Adapter, AdapterCatalogue, AdapterStopped, ConnectionState
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.values import dataclass

from .counts import PlatformCounts
from .link import BotLink, CoreAccess

logger = logging.getLogger(__name__)

FIRST_RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BotDependencies:
    """Dependencies that are needed to connect a bot."""

    catalogue: AdapterCatalogue
    secrets: SecretBox
    doors: CoreAccess
    counts: PlatformCounts


class BotRunner:
    """Runs the adapter of one bot until it is stopped or until its configuration has to be changed."""

    def __init__(self, bot: Bot, means: BotDependencies, on_status: Callable[[ConnectionState, str], None]) -> None:
        self.bot = bot
        self.adapter: Adapter | None = None
        self._dependencies = means
        self._on_status = on_status
        self._stopping = False
        self._task = asyncio.create_task(self._run(), name=f"bot {bot.bot_id}")

    @property
    def has_given_up(self) -> bool:
        """True if the bot is not retried because an operator has to change something first."""
        return self._task.done()

    async def stop(self) -> None:
        self._stopping = True
        self._task.cancel()
        _, unfinished = await asyncio.wait([self._task], timeout=STOP_TIMEOUT_SECONDS)
        if unfinished:
            logger.error(
                "bot %s did not disconnect from its platform within %g s", self.bot.bot_id, STOP_TIMEOUT_SECONDS
            )

    async def _run(self) -> None:
        backoff = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS, jitter=0)
        clock = asyncio.get_running_loop().time
        while True:
            started_at = clock()
            try:
                await self._connected()
                reason = "the adapter ended without being told to"
            except (AdapterStopped, SecretUnreadable) as stopped:
                self._report_status("failed", str(stopped))
                return
            except Exception as error:
                logger.exception("the adapter of bot %s crashed", self.bot.bot_id)
                reason = f"the adapter crashed ({type(error).__name__}; the log says where)"
            finally:
                self.adapter = None
            if clock() - started_at > MAX_RETRY_SECONDS:
                backoff.reset()
            wait = backoff.next_delay()
            self._report_status("failed", f"{reason}; it is started again in {wait:g} s")
            await asyncio.sleep(wait)

    async def _connected(self) -> None:
        bot, means = self.bot, self._dependencies
        if bot.adapter not in means.catalogue.manifests():
            raise AdapterStopped(
                f"this version has no adapter '{bot.adapter}'; GET /api/v1/adapters lists those it has"
            )
        seen_apis = means.catalogue.manifests()[bot.adapter].seen_apis
        on_event = partial(means.counts.event, bot.adapter)
        link = BotLink(bot, decrypt_config(bot, means.secrets), means.doors, seen_apis, self._report_status, on_event)
        self.adapter = means.catalogue.create(bot.adapter, link)
        await self.adapter.serve()

    def _report_status(self, state: ConnectionState, error: str) -> None:
        if not self._stopping:  # status reports that arrive during the stop are ignored
            self._on_status(state, error)
