"""A bot as it is written."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue


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

    name: str = Field(min_length=1, max_length=200)
    adapter: str = Field(min_length=1, max_length=100)
    adapter_config: dict[str, JsonValue] = {}
    enabled: bool = True
