"""Shows the typing indicator during longer runs, on platforms that have one. Best effort."""

import asyncio
import logging

from parlour.core.model.delivery_policy import DEFAULT
from parlour.core.model.event import RecordedEvent
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.platform_api import NotSupportedError

from . import targets
from .targets import Place

logger = logging.getLogger(__name__)

FIRST_SECONDS = 0.5
"""Seconds after which the indicator is first shown; a faster run shows none."""
AGAIN_SECONDS = 4.0
"""Seconds between two refreshes of the indicator."""
LONGEST_SECONDS = 600.0
"""Seconds after which the indicator is not refreshed any more."""


class TypingSigns:
    """Shows a typing indicator per active run."""

    def __init__(self, bots: RunningBots) -> None:
        self._bots = bots
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._shown: dict[str, asyncio.Task[None]] = {}

    def begin(self, event: RecordedEvent, run_id: str) -> None:
        if event.envelope.surface != targets.PLATFORM:
            return
        manifest = self._bots.manifest(event.envelope.bot_id)
        if manifest is None or "send_typing" not in manifest.supported_apis:
            return
        place = targets.of(event, DEFAULT)
        if not place.nowhere:
            loop = asyncio.get_running_loop()
            self._timers[run_id] = loop.call_later(FIRST_SECONDS, self._due, run_id, place)

    def end(self, run_id: str) -> None:
        timer, shown = self._timers.pop(run_id, None), self._shown.pop(run_id, None)
        if timer is not None:
            timer.cancel()
        if shown is not None:
            shown.cancel()

    def _due(self, run_id: str, place: Place) -> None:
        del self._timers[run_id]
        self._shown[run_id] = asyncio.get_running_loop().create_task(self._show(run_id, place))

    async def _show(self, run_id: str, place: Place) -> None:
        address = place.address
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                while (adapter := self._bots.adapter(place.bot_id)) is not None:
                    api = adapter.api(address.get("account", ""))
                    await api.send_typing(targets.chat_type(address), address["chat_id"], address["thread_id"])
                    await asyncio.sleep(AGAIN_SECONDS)
        except (PlatformRefused, PlatformUncertain, NotSupportedError, TimeoutError, OSError) as error:
            logger.debug("run %s: typing indicator not shown: %s", run_id, error)
        except Exception:  # an error of the adapter must not affect the run
            logger.exception("run %s: typing indicator could not be shown", run_id)
