"""Schedules, and the calculation of when they are due. Pure functions: the current time is always a parameter."""

from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from parlour_sdk.values import dataclass

from .ids import NO_AGENT, NO_BOT, AgentId, BotId, ScheduleId

MissedPolicy = Literal["skip", "once"]
MIN_INTERVAL_SECONDS = 10
"""Smallest accepted interval in seconds."""
EVENT_TYPE = "schedule.triggered"


class InvalidSchedule(Exception):
    """Raised for an invalid schedule; `field` names the wrong part, and the message says what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(frozen=True, slots=True)
class Schedule:
    """Creates events at the times given by either `cron` (five fields, in its time zone) or `interval_seconds`."""

    schedule_id: ScheduleId
    name: str
    cron: str = ""
    interval_seconds: int = 0
    timezone: str = "UTC"
    agent_id: AgentId = NO_AGENT
    bot_id: BotId = NO_BOT
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    missed: MissedPolicy = "skip"
    """Handling of due times at which no Host ran: `skip` ignores them, `once` creates one event for all of them."""
    enabled: bool = True

    def next_due_after(self, moment: int) -> int:
        """Returns the first due time after this one, in epoch milliseconds.

        Daylight saving follows cron: a skipped time is due right after the gap, a repeated time is due once.
        """
        if self.interval_seconds:
            step = self.interval_seconds * 1000
            return (moment // step + 1) * step
        from cronsim import CronSim

        zone = ZoneInfo(self.timezone)
        begin = datetime.fromtimestamp(moment / 1000, zone)
        for occurrence in CronSim(self.cron, begin):
            due_at = int(occurrence.astimezone(UTC).timestamp() * 1000)
            if due_at > moment:
                return due_at
        raise InvalidSchedule("cron", "it is never due")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def validate_schedule(schedule: Schedule, now: int) -> None:
    """Validates a schedule. Raises InvalidSchedule."""
    if bool(schedule.cron) == bool(schedule.interval_seconds):
        raise InvalidSchedule("cron", "give either cron, such as '0 9 * * 1-5', or interval_seconds")
    if schedule.interval_seconds and schedule.interval_seconds < MIN_INTERVAL_SECONDS:
        raise InvalidSchedule("interval_seconds", f"at least {MIN_INTERVAL_SECONDS} seconds")
    _check_zone(schedule.timezone)
    if schedule.cron:
        _check_cron(schedule, now)


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise InvalidSchedule("timezone", f"'{name}' is no time zone; one looks like Europe/Berlin") from error


def _check_cron(schedule: Schedule, now: int) -> None:
    from cronsim import CronSimError

    if len(schedule.cron.split()) != 5:
        raise InvalidSchedule("cron", "five fields: minute, hour, day of month, month, day of week")
    try:
        schedule.next_due_after(now)
    except (CronSimError, StopIteration) as error:
        raise InvalidSchedule("cron", f"'{schedule.cron}' can't be read: {error}") from error
