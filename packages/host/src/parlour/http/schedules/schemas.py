"""Request and response schemas of a schedule."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.model.ids import NO_AGENT, NO_BOT, AgentId, BotId

from ..responses import Id, TimestampMs


class ScheduleBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "Morning",
                    "cron": "0 9 * * 1-5",
                    "timezone": "Europe/Berlin",
                    "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
                }
            ]
        },
    )

    name: str = Field(min_length=1, max_length=200)
    cron: str = Field(default="", max_length=200, examples=["0 9 * * 1-5"])
    interval_seconds: int = Field(default=0, ge=0, le=366 * 24 * 3600)
    timezone: str = Field(default="UTC", max_length=64, examples=["Europe/Berlin"])
    agent_id: AgentId = Field(default=NO_AGENT, max_length=64)
    bot_id: BotId = Field(default=NO_BOT, max_length=64)
    text: str = Field(default="", max_length=20_000)
    data: dict[str, Any] = {}
    missed: Literal["skip", "once"] = "skip"
    enabled: bool = True


class ScheduleResponse(TypedDict):
    schedule_id: Id
    name: str
    cron: str
    interval_seconds: int
    timezone: str
    agent_id: AgentId
    bot_id: BotId
    text: str
    data: dict[str, Any]
    missed: Literal["skip", "once"]
    """What becomes of a time that passed while the Host was away."""
    enabled: bool
    due_at: TimestampMs | None
    fired_at: TimestampMs | None
