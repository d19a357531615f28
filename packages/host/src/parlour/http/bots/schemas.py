"""Request schemas of a bot."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from parlour.core.model.ids import BotId

from ..crud import Name


class BotBody(BaseModel):
    """`adapter_config` is what the adapter's form asks for. A secret that is left out stays as it is."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={
            "examples": [
                {"name": "Our QQ bot", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": 6700}}
            ]
        },
    )

    name: Name
    adapter: str = Field(min_length=1, max_length=100)
    adapter_config: dict[str, JsonValue] = {}
    enabled: bool = True
    keeps_heard_messages: bool = Field(
        default=True,
        description="Messages of groups that don't address the bot are kept for `retention.heard_days`, for its agents",
    )


class BotChange(BotBody):
    """What was read may be sent back with its changes: what is only told is not looked at."""

    bot_id: BotId | None = Field(default=None, exclude=True, description="If it is given, that of the address")
    secrets_set: list[Any] | None = Field(default=None, exclude=True, description="Only told")
    status: dict[str, Any] | None = Field(default=None, exclude=True, description="Only told")
