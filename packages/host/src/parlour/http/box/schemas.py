"""Request bodies of the Box."""

from pydantic import BaseModel, ConfigDict, Field

from ..agents.schemas import BoxPolicyBody


class TryCommandBody(BaseModel):
    """A command, and the policy under which it runs."""

    model_config = ConfigDict(extra="forbid")

    command: str = Field(min_length=1, max_length=16_384)
    box_policy: BoxPolicyBody = BoxPolicyBody()
