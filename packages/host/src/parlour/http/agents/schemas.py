"""Request and response schemas of an agent."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from parlour.core.box.session_template import DEFAULT_TEMPLATE, MAX_TEMPLATE_CHARACTERS
from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.model.delivery_policy import MIN_MESSAGE_SIZE
from parlour.core.model.doors import DOORS, Door
from parlour.core.model.ids import AgentId, BotId, RunnerId
from parlour.core.model.memory import DEFAULT_DAYS, DEFAULT_ENTRIES, MAX_ENTRIES

from ..crud import Name
from ..responses import Id
from ..validation_errors import register_pattern

MAX_DURATION_SECONDS = 10 * 365 * 86_400
"""Upper limit of durations in seconds: ten years."""
StateScope = Literal["conversation", "actor", "subject", "runner", "binding"]


class StatePolicyBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    enabled: bool = True
    scopes: list[StateScope] = ["conversation", "actor", "subject", "binding"]


Names = Literal["*"] | list[str]
ResourceKind = Literal["models", "tools", "knowledge_bases", "skills", "files"]


class SenderBody(BaseModel):
    """Whom a rule is for: every part that is named must hold."""

    model_config = ConfigDict(extra="forbid")

    users: list[str] = []
    groups: list[str] = []
    roles: list[str] = []
    chat_type: Literal["", "private", "group"] = ""


class RuleBody(BaseModel):
    """Adds to or takes from what is granted, for some senders."""

    model_config = ConfigDict(extra="forbid")

    when: SenderBody = SenderBody()
    allow: dict[ResourceKind, Names] = {}
    deny: dict[ResourceKind, Names] = {}


class ResourcePolicyBody(BaseModel):
    """Each a list of names, or "*" for all; beyond these, what the configuration selects is granted."""

    model_config = ConfigDict(extra="forbid")

    models: Names = []
    tools: Names = []
    knowledge_bases: Names = []
    skills: Names = "*"
    files: Names = []
    plugins: Names = "*"
    mcp_servers: Names = []
    storage: list[Literal["plugin", "workspace", "binding"]] = ["plugin", "binding"]
    cross_conversation_history: bool = False
    rules: list[RuleBody] = Field(default=[], max_length=100)


class TargetBody(BaseModel):
    """A chat of a bot."""

    model_config = ConfigDict(extra="forbid")

    bot_id: BotId = Field(min_length=1, max_length=200)
    chat_type: Literal["private", "group"]
    chat_id: str = Field(min_length=1, max_length=200)
    account: str = Field(default="", max_length=200)
    thread_id: str = Field(default="", max_length=200)


class DeliveryPolicyBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    streaming: bool = True
    reply: Literal["message", "quote"] = "message"
    max_message_size: int = Field(
        default=0, ge=0, le=1_000_000, description=f"0 for the platform's own, else at least {MIN_MESSAGE_SIZE}."
    )
    thinking: Literal["hidden", "shown"] = "hidden"
    mention_everyone: bool = False
    fallback_target: TargetBody | None = None

    @field_validator("max_message_size")
    @classmethod
    def _large_enough(cls, size: int) -> int:
        if 0 < size < MIN_MESSAGE_SIZE:
            message = "Input should be at least {least}, or 0 for what the platform takes"
            raise PydanticCustomError("message_size", message, {"least": MIN_MESSAGE_SIZE})
        return size

    def non_default_fields(self) -> dict[str, Any]:
        """Returns the fields that differ from the defaults, in the form in which they are stored."""
        return self.model_dump(exclude_defaults=True)


class DecidersBody(BaseModel):
    """Who may decide: users by their ids, members of the group by their roles, and perhaps the requester."""

    model_config = ConfigDict(extra="forbid")

    users: list[str] = Field(default=[], max_length=100)
    roles: list[Literal["owner", "admin", "member"]] = ["owner", "admin"]
    requester: bool = False


class ApprovalRuleBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    decision: Literal["allow", "ask", "deny"]
    who: DecidersBody = DecidersBody()
    seconds: float = Field(default=1800, ge=10, le=86_400)
    show_in: TargetBody | None = None


TOOL = register_pattern(r"^[A-Za-z0-9_.*?/:-]{1,200}$", "write a tool as box.exec, or several as box.* or *")
ToolPattern = Annotated[str, Field(pattern=TOOL)]


class ToolRuleBody(BaseModel):
    """Decides about the calls of some tools. The first entry that matches applies; without one a tool is allowed."""

    model_config = ConfigDict(extra="forbid")

    tools: list[ToolPattern] = Field(min_length=1, max_length=100)
    decide: Literal["allow", "ask", "deny"]
    who: DecidersBody = DecidersBody()
    seconds: float = Field(default=1800, ge=10, le=86_400)


class BoxPolicyBody(BaseModel):
    """What the agent may do in the Box; without tools it gets nothing."""

    model_config = ConfigDict(extra="forbid")

    tools: list[Literal["exec", "read", "write", "edit", "glob", "grep"]] = Field(default=[], max_length=6)
    read_only: bool = False
    network: bool | None = Field(default=None, description="Null: as in the profile.")
    profile: Literal["default", "offline_readonly", "network_basic", "network_extended"] = "default"
    session_template: str = Field(default=DEFAULT_TEMPLATE, min_length=1, max_length=MAX_TEMPLATE_CHARACTERS)
    ask: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default=[], max_length=100)
    author_skills: bool = Field(default=False, description="It may install skills, and change those it has installed.")
    host_path: str = Field(
        default="",
        max_length=4096,
        description="File or folder of the machine that its sandbox shows read-only, at the same path; most profiles "
        "lock it",
    )


class MemoryPolicyBody(BaseModel):
    """What the agent may remember about people or chats."""

    model_config = ConfigDict(extra="forbid")

    scope: Literal["off", "person", "chat"] = "off"
    consent: bool = Field(default=True, description="Nothing is remembered before `/memory on` was written.")
    max_entries: int = Field(default=DEFAULT_ENTRIES, ge=1, le=MAX_ENTRIES)
    retention_days: float = Field(default=DEFAULT_DAYS, ge=0, le=3650, description="0: without limit")


def _rule_variant(rule: Any) -> str:
    """Selects the variant of the union: any object is validated as a rule, so that errors name the field inside it."""
    return "object" if isinstance(rule, dict | ApprovalRuleBody) else "word"


Decision = Annotated[Literal["allow", "ask", "deny"], Tag("word")]
Rule = Annotated[Decision | Annotated[ApprovalRuleBody, Tag("object")], Discriminator(_rule_variant)]
ACTION = register_pattern(r"^[A-Za-z0-9_.*?/-]{1,200}$", "write an action as message.send, or several as message.*")
ActionPattern = Annotated[str, Field(pattern=ACTION)]
EVENT_TYPE = register_pattern(r"^(\*|[A-Za-z0-9_.]+(\.\*)?)$", "write one as message.received, message.* or *")
WorkerLabel = Annotated[str, Field(min_length=1, max_length=200)]
EventPattern = Annotated[str, Field(max_length=128, pattern=EVENT_TYPE)]


class AgentBody(BaseModel):
    """Only name and runner_id are required."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "Helper",
                    "runner_id": "plugin:parlour/local-agent/default",
                    "runner_config": {"prompt": "Be brief."},
                }
            ]
        },
    )

    name: Name
    runner_id: RunnerId = Field(min_length=1, max_length=500)
    description: str = Field(default="", max_length=5000)
    runner_config: dict[str, Any] = {}
    resource_policy: ResourcePolicyBody = ResourcePolicyBody()
    state_policy: StatePolicyBody = StatePolicyBody()
    delivery_policy: DeliveryPolicyBody = DeliveryPolicyBody()
    approval_policy: dict[ActionPattern, Rule] = Field(default={}, max_length=100)
    tool_policy: list[ToolRuleBody] = Field(default=[], max_length=100)
    box_policy: BoxPolicyBody = BoxPolicyBody()
    memory_policy: MemoryPolicyBody = MemoryPolicyBody()
    restart_policy: Literal["auto", "never", "always"] = "auto"
    timeout_seconds: float = Field(default=300, ge=0, le=86_400)
    stale_after: float = Field(default=600, ge=0, le=MAX_DURATION_SECONDS)
    conversation_ttl: float = Field(default=0, ge=0, le=MAX_DURATION_SECONDS)
    journal_calls: bool = False
    event_types: list[EventPattern] = Field(default=["message.received"], min_length=1, max_length=100)
    message_policy: MessagePolicy | None = None
    published: list[Door] = Field(default=[], max_length=len(DOORS))
    """Doors through which clients of other standards may use it."""
    on_workers: bool = False
    """True if workers on other machines execute its runs."""
    worker_labels: list[WorkerLabel] = Field(default=[], max_length=100)
    """Labels that a worker needs to execute them."""
    enabled: bool = True


class AgentChange(AgentBody):
    """What was read may be sent back with its changes."""

    agent_id: AgentId | None = Field(default=None, exclude=True, description="If it is given, that of the address")


class AgentTestBody(BaseModel):
    """The configuration of an agent that need not be stored."""

    model_config = ConfigDict(extra="forbid")

    runner_id: RunnerId = Field(min_length=1, max_length=500)
    runner_config: dict[str, Any] = {}
    agent_id: AgentId | None = Field(default=None, description="Its stored secrets stand for masked ones")


class AgentTestResponse(TypedDict):
    ok: bool
    code: str
    """Empty if the configuration works; otherwise the code that a run would fail with."""
    message: str
    """What answered, or exactly what is wrong."""
    milliseconds: int


class SenderResponse(TypedDict):
    users: list[str]
    groups: list[str]
    roles: list[str]
    chat_type: str


class ResourceRule(TypedDict):
    """Adds to or takes from what is granted, for some senders."""

    when: SenderResponse
    allow: dict[ResourceKind, Names]
    deny: dict[ResourceKind, Names]


class ResourcePolicyResponse(TypedDict):
    """What the agent may use, beyond what its configuration selects."""

    models: Names
    tools: Names
    knowledge_bases: Names
    skills: Names
    files: Names
    plugins: Names
    mcp_servers: Names
    storage: list[str]
    cross_conversation_history: bool
    rules: list[ResourceRule]


class StatePolicyResponse(TypedDict):
    enabled: bool
    scopes: list[str]


class DecidersResponse(TypedDict):
    users: list[str]
    roles: list[str]
    requester: bool


class ToolRuleResponse(TypedDict):
    tools: list[str]
    decide: Literal["allow", "ask", "deny"]
    who: DecidersResponse
    seconds: float


class BoxPolicyResponse(TypedDict):
    tools: list[str]
    read_only: bool
    network: bool | None
    """Null: as in the profile."""
    profile: str
    session_template: str
    """Which messages share a sandbox."""
    ask: list[str]
    """Patterns of commands that need an approval."""
    author_skills: bool
    host_path: str
    """File or folder of the machine that its sandbox shows read-only; empty for none."""


class MemoryPolicyResponse(TypedDict):
    scope: Literal["off", "person", "chat"]
    consent: bool
    max_entries: int
    """Memories of each person or chat."""
    retention_days: float
    """0: without limit."""


class AgentResponse(TypedDict):
    agent_id: Id
    name: str
    runner_id: RunnerId
    """Of GET /runners."""
    description: str
    runner_config: dict[str, Any]
    """As the runner's form asks for it; a secret is masked, and stays as it is when it comes back so."""
    resource_policy: ResourcePolicyResponse
    state_policy: StatePolicyResponse
    delivery_policy: dict[str, Any]
    """What differs from the defaults."""
    approval_policy: dict[str, Any]
    tool_policy: list[ToolRuleResponse]
    """The first entry that matches a tool decides about its calls.

    Without one they are allowed, except that in groups tools of MCP servers that are not read-only are asked about.
    """
    box_policy: BoxPolicyResponse
    memory_policy: MemoryPolicyResponse
    restart_policy: Literal["auto", "never", "always"]
    timeout_seconds: float
    """0: none."""
    stale_after: float
    """Seconds after which an event is no longer answered; 0: never."""
    conversation_ttl: float
    """Seconds of silence after which a chat begins anew; 0: never."""
    journal_calls: bool
    event_types: list[str]
    message_policy: dict[str, Any]
    """The fields that were given."""
    published: list[Door]
    """Doors through which clients of other standards may use it."""
    on_workers: bool
    """True if workers on other machines execute its runs."""
    worker_labels: list[str]
    enabled: bool
