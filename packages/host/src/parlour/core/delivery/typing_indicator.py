"""Shows the typing indicator during longer runs, on platforms that have one. Best effort."""

import asyncio
import logging

from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import RunId
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.platform_api import NotSupportedError

from . import targets
from .targets import ReplyTarget

logger = logging.getLogger(__name__)

TYPING_DELAY_SECONDS = 0.5
"""Seconds after which the indicator is first shown; a faster run shows none."""
TYPING_INTERVAL_SECONDS = 4.0
"""Seconds between two refreshes of the indicator."""
MAX_TYPING_SECONDS = 600.0
"""Seconds after which the indicator is not refreshed any more."""


class TypingIndicator:
    """Shows a typing indicator per active run."""

    def __init__(self, bots: PlatformBots) -> None:
        self._bots = bots
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, event: RecordedEvent, run_id: RunId) -> None:
        if event.envelope.surface != targets.PLATFORM:
            return
        manifest = self._bots.manifest(event.envelope.bot_id)
        if manifest is None or "send_typing" not in manifest.supported_apis:
            return
        reply_target = targets.reply_target(event, DEFAULT_DELIVERY_POLICY)
        if not reply_target.has_no_chat:
            loop = asyncio.get_running_loop()
            self._timers[run_id] = loop.call_later(TYPING_DELAY_SECONDS, self._on_timer, run_id, reply_target)

    def stop(self, run_id: RunId) -> None:
        timer, task = self._timers.pop(run_id, None), self._tasks.pop(run_id, None)
        if timer is not None:
            timer.cancel()
        if task is not None:
            task.cancel()

    def _on_timer(self, run_id: RunId, reply_target: ReplyTarget) -> None:
        del self._timers[run_id]
        self._tasks[run_id] = asyncio.get_running_loop().create_task(self._show(run_id, reply_target))

    async def _show(self, run_id: RunId, reply_target: ReplyTarget) -> None:
        address = reply_target.address
        try:
            async with asyncio.timeout(MAX_TYPING_SECONDS):
                while (adapter := self._bots.adapter(reply_target.bot_id)) is not None:
                    api = adapter.api(address.get("account", ""))
                    await api.send_typing(targets.chat_type(address), address["chat_id"], address["thread_id"])
                    await asyncio.sleep(TYPING_INTERVAL_SECONDS)
        except (PlatformRefused, PlatformUncertain, NotSupportedError, TimeoutError, OSError) as error:
            logger.debug("run %s: typing indicator not shown: %s", run_id, error)
        except Exception:  # an error of the adapter must not affect the run
            logger.exception("run %s: typing indicator could not be shown", run_id)
