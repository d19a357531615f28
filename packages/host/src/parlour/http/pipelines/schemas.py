"""Request and response schemas of pipelines, and of their dry run."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict

from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.model.ids import AgentId, PipelineId

from ..agents.schemas import MAX_DURATION_SECONDS
from ..crud import Name
from ..responses import Id

Extensions = Literal["*"] | Annotated[list[Annotated[str, Field(max_length=255)]], Field(max_length=1000)]


class PipelineBody(BaseModel):
    """Only name and agent_id are required."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "Support",
                    "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
                    "message_policy": {"wake": {"groups": {"prefixes": ["ai"]}}},
                }
            ]
        },
    )

    name: Name
    agent_id: AgentId = Field(min_length=1, max_length=255)
    description: str = Field(default="", max_length=5000)
    message_policy: MessagePolicy | None = None
    conversation_ttl: float | None = Field(default=None, ge=0, le=MAX_DURATION_SECONDS)
    plugins: Extensions = "*"
    mcp_servers: Extensions = "*"
    skills: Extensions = "*"
    enabled: bool = True


class PipelineChange(PipelineBody):
    """What was read may be sent back with its changes."""

    pipeline_id: PipelineId | None = Field(
        default=None, exclude=True, description="If it is given, that of the address"
    )
    problem: str | None = Field(default=None, exclude=True, description="It may be sent back, and is ignored")


class PipelineResponse(TypedDict):
    pipeline_id: Id
    name: str
    agent_id: AgentId
    description: str
    message_policy: dict[str, Any]
    """The fields that were given; they hold in place of the agent's own."""
    conversation_ttl: float | None
    """Null: that of the agent."""
    plugins: Literal["*"] | list[str]
    """Plugins whose tools may be used; at most what the agent may use."""
    mcp_servers: Literal["*"] | list[str]
    skills: Literal["*"] | list[str]
    enabled: bool
    problem: str | None
    """Why the pipeline answers nothing."""


class PipelineDryRunBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"event": {"input": {"text": "hello"}}, "reply": "Hi!"}]}
    )

    event: dict[str, JsonValue] = {}
    """What POST /events takes; whatever is missing is filled with a sample person and chat."""
    reply: str = Field(default="", max_length=100_000)
    """A reply that the filters of replies are tried on."""
    pipeline: PipelineBody | None = None
    """The pipeline as it is being edited, in place of the stored one; it is not stored."""


class PipelineStep(TypedDict):
    checkpoint: Literal["wake", "admit", "gather", "answer", "finish", "pace"]
    rule: str
    """Field of the message policy that decides."""
    verdict: Literal["pass", "stop", "change", "wait"]
    code: str
    reason: str
    before: str | None
    after: str | None


class PipelineDryRun(TypedDict):
    steps: list[PipelineStep]
    answered_by: AgentId | None
    """The agent that would answer; null if the message is stopped."""
    input: str | None
    """The text that the agent would read."""
