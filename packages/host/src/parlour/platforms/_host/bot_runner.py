"""Runs one enabled bot: connects its adapter and connects it again after a failure. It knows no other bot."""

import asyncio
import logging
from collections.abc import Callable

from parlour.core.config.bots import Bot
from parlour.core.platforms.bot_config import opened
from parlour.core.platforms.port import Adapter, AdapterStopped, Catalogue, State
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.values import dataclass

from .link import BotLink, Doors

logger = logging.getLogger(__name__)

FIRST_RETRY_SECONDS = 1.0
LONGEST_RETRY_SECONDS = 60.0
STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Means:
    """Dependencies that are needed to connect a bot."""

    catalogue: Catalogue
    secrets: SecretBox
    doors: Doors


class BotLife:
    """Runs the adapter of one bot until it is stopped or until its configuration has to be changed."""

    def __init__(self, bot: Bot, means: Means, tell: Callable[[State, str], None]) -> None:
        self.bot = bot
        self.adapter: Adapter | None = None
        self._means = means
        self._told = tell
        self._over = False
        self._task = asyncio.create_task(self._live(), name=f"bot {bot.bot_id}")

    @property
    def given_up(self) -> bool:
        """True if the bot is not retried because an operator has to change something first."""
        return self._task.done()

    async def stop(self) -> None:
        self._over = True
        self._task.cancel()
        _, late = await asyncio.wait([self._task], timeout=STOP_SECONDS)
        if late:
            logger.error("bot %s did not disconnect from its platform within %g s", self.bot.bot_id, STOP_SECONDS)

    async def _live(self) -> None:
        wait = FIRST_RETRY_SECONDS
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            try:
                await self._connected()
                reason = "the adapter ended without being told to"
            except (AdapterStopped, SecretUnreadable) as stopped:
                self._tell("failed", str(stopped))
                return
            except Exception as error:
                logger.exception("the adapter of bot %s crashed", self.bot.bot_id)
                reason = f"the adapter crashed ({type(error).__name__}; the log says where)"
            finally:
                self.adapter = None
            wait = FIRST_RETRY_SECONDS if clock() - began > LONGEST_RETRY_SECONDS else wait
            self._tell("failed", f"{reason}; it is started again in {wait:g} s")
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_RETRY_SECONDS)

    async def _connected(self) -> None:
        bot, means = self.bot, self._means
        if bot.adapter not in means.catalogue.manifests():
            raise AdapterStopped(
                f"this version has no adapter '{bot.adapter}'; GET /api/v1/adapters lists those it has"
            )
        link = BotLink(bot, opened(bot, means.secrets), means.doors, self._tell)
        self.adapter = means.catalogue.create(bot.adapter, link)
        await self.adapter.serve()

    def _tell(self, state: State, error: str) -> None:
        if not self._over:  # status reports that arrive during the stop are ignored
            self._told(state, error)
