"""Response schemas of statistics."""

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from ..responses import Id, Micros, TimestampMs


@with_config(ConfigDict(extra="allow"))
class Figures(TypedDict, total=False):
    """Counts by a short name, such as `events.message.received`, `runs.completed`, `prompt_tokens`, `cost_micros`."""

    run_milliseconds: int
    prompt_tokens: int
    completion_tokens: int
    cost_micros: Micros
    model_calls: int
    unpriced_calls: int
    tool_calls: int


@with_config(ConfigDict(extra="allow"))
class HourlyFigures(TypedDict):
    """What happened in an hour: counts by a short name."""

    hour: TimestampMs


class Stats(TypedDict):
    items: list[HourlyFigures]
    totals: Figures
    next_cursor: None


class UsageResponse(TypedDict):
    """What an agent used of a model on a day."""

    day: str
    """In the workspace's time zone, as 2026-03-01."""
    agent_id: Id | None
    agent_name: str | None
    """Null when the agent is gone."""
    model_id: Id
    model_name: str | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_micros: Micros
    """Cost of the calls with a known price."""
    unpriced_calls: int
    """Calls of which nobody knows what they cost."""
