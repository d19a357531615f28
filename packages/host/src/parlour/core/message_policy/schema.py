"""The schema of a message policy. It is the only one: agents, routes, the page's form and the checks read it.

Every default is what happens without a policy. A policy is stored as the fields that were given.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from parlour.core.model import regex_budget

LimitScope = Literal["sender", "chat", "bot", "agent"]
MAX_WINDOW_SECONDS = 31 * 86_400
"""Longest window of a rate limit in seconds."""


def _check_expression(pattern: str) -> str:
    problem = regex_budget.pattern_problem(pattern)
    if problem:
        raise PydanticCustomError("text_regex", "{problem}", {"problem": problem})
    return pattern


Text = Annotated[str, Field(min_length=1, max_length=200)]
Sentence = Annotated[str, Field(max_length=1000)]
Texts = Annotated[list[Text], Field(max_length=200)]
Expressions = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=100)]
Entry = Annotated[str, Field(max_length=255, pattern=r"^(group|person|user|role):.+$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class _Expressions(_Part):
    """A part with regular expressions, which are compiled when the policy is read."""

    regexes: Expressions = []

    @field_validator("regexes")
    @classmethod
    def _compile(cls, patterns: list[str]) -> list[str]:
        return [_check_expression(pattern) for pattern in patterns]


class GroupWake(_Expressions):
    """Which messages of groups are answered: those that one of these rules matches."""

    mention: bool = True
    reply_to_bot: bool = True
    prefixes: Texts = []
    keywords: Texts = []
    probability: float = Field(default=0, ge=0, le=1)
    strip: bool = True
    """True if the agent does not see the prefix that woke it."""


class PrivateWake(_Expressions):
    """Which private messages are answered."""

    always: bool = True
    prefixes: Texts = []


class IgnoreRules(_Expressions):
    """Messages that are never answered, in groups and private chats."""

    prefixes: Texts = []
    bots: bool = True


class AccessRules(_Part):
    """Who is answered. An entry is `group:42`, `person:7` (a private chat), `user:7` or `role:admin`; `*` is any id."""

    mode: Literal["deny", "allow"] = "deny"
    entries: Annotated[list[Entry], Field(max_length=10_000)] = []


class WakeRules(_Part):
    """Whether a message is answered at all. Groups without rules answer whatever the route gives them."""

    groups: GroupWake | None = None
    private: PrivateWake = PrivateWake()
    ignore: IgnoreRules = IgnoreRules()
    access: AccessRules = AccessRules()


class Gather(_Part):
    """Collects messages that are sent in quick succession into one run."""

    seconds: float = Field(default=0, ge=0, le=10)
    """Silence after which the run starts; 0 means that nothing is collected."""
    longest: float = Field(default=15, ge=1, le=60)
    messages: int = Field(default=10, ge=2, le=50)
    per: Literal["sender", "chat"] = "sender"

    @field_validator("seconds")
    @classmethod
    def _off_or_long_enough(cls, seconds: float) -> float:
        if 0 < seconds < 0.5:
            raise PydanticCustomError("gather_seconds", "Input should be 0, or from 0.5 to 10")
        return seconds


class MessageLimit(_Part):
    """How many messages are answered, per window of some seconds or per calendar day."""

    per: LimitScope = "sender"
    count: int = Field(default=60, ge=1, le=1_000_000)
    seconds: int = Field(default=60, ge=1, le=MAX_WINDOW_SECONDS)
    window: Literal["seconds", "day"] = "seconds"
    kind: Literal["fixed", "sliding", "bucket"] = "fixed"
    over: Literal["drop", "wait", "tell"] = "drop"
    tell: Sentence = ""
    """Text for `tell`; empty means the Host's own."""


class WordsConfig(_Part):
    """Words of a shared list, and further words."""

    list_id: str = Field(default="", max_length=64)
    words: Annotated[list[Text], Field(max_length=1000)] = []

    @model_validator(mode="after")
    def _some(self) -> "WordsConfig":
        if not self.list_id and not self.words:
            raise PydanticCustomError("no_words", "name a word list in list_id, or give words")
        return self


class RegexConfig(_Part):
    """Regular expressions, which share a short time budget per message."""

    patterns: Annotated[Expressions, Field(min_length=1)]

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: list[str]) -> list[str]:
        return [_check_expression(pattern) for pattern in patterns]


class ModerationConfig(_Part):
    """A moderation model, and which of its categories count."""

    model_id: Annotated[str, Field(min_length=1, max_length=200)]
    categories: Annotated[list[Text], Field(max_length=50)] = []
    """Categories that count; empty means all."""
    threshold: float = Field(default=0, ge=0, le=1)
    """Score from which a category counts; 0 means that the model decides."""
    seconds: float = Field(default=3, ge=0.1, le=10)
    """Time limit of the call."""
    on_error: Literal["pass", "block"] | None = None
    """What follows without a verdict; None means that messages pass and replies are blocked."""


class PluginFilterConfig(_Part):
    """A plugin that was granted `text.filtering`."""

    plugin_id: Annotated[str, Field(min_length=1, max_length=255)]
    seconds: float = Field(default=3, ge=0.1, le=5)
    """Time limit for all handlers of the plugin."""
    on_error: Literal["pass", "block"] | None = None
    """What follows without a verdict; None means that messages pass and replies are blocked."""


class _InputFilter(_Part):
    on: Literal["block", "mask", "flag"] = "block"
    tell: Sentence = ""
    """Text for the sender of a blocked message; empty means that nothing is said."""


class _AskingInputFilter(_Part):
    on: Literal["block", "flag"] = "block"
    tell: Sentence = ""
    """Text for the sender of a blocked message; empty means that nothing is said."""


class _OutputFilter(_Part):
    on: Literal["block", "mask", "replace"] = "mask"
    text: Sentence = ""
    """Text that is sent instead of a replaced message."""


class _AskingOutputFilter(_Part):
    on: Literal["block", "replace"] = "block"
    text: Sentence = ""
    """Text that is sent instead of a replaced message."""


class InputWords(_InputFilter):
    use: Literal["words"]
    config: WordsConfig


class InputRegex(_InputFilter):
    use: Literal["regex"]
    config: RegexConfig


class OutputWords(_OutputFilter):
    use: Literal["words"]
    config: WordsConfig


class OutputRegex(_OutputFilter):
    use: Literal["regex"]
    config: RegexConfig


class InputModeration(_AskingInputFilter):
    use: Literal["moderation"]
    config: ModerationConfig


class InputPlugin(_AskingInputFilter):
    use: Literal["plugin"]
    config: PluginFilterConfig


class OutputModeration(_AskingOutputFilter):
    use: Literal["moderation"]
    config: ModerationConfig


class OutputPlugin(_AskingOutputFilter):
    use: Literal["plugin"]
    config: PluginFilterConfig


InputFilter = Annotated[InputWords | InputRegex | InputModeration | InputPlugin, Field(discriminator="use")]
OutputFilter = Annotated[OutputWords | OutputRegex | OutputModeration | OutputPlugin, Field(discriminator="use")]
AskingFilter = InputModeration | InputPlugin | OutputModeration | OutputPlugin
"""A filter whose verdict comes from a model or a plugin."""


class Filters(_Part):
    """Filters of messages and replies, applied in this order."""

    input: Annotated[list[InputFilter], Field(max_length=20)] = []
    output: Annotated[list[OutputFilter], Field(max_length=20)] = []


class ContextRules(_Part):
    """What the agent reads besides the text of the message."""

    quote: Literal["include", "ignore"] = "include"
    sender_names: bool = False
    """True if messages of groups begin with the sender's name."""


class ReplyStyle(_Part):
    """How replies look in the chat."""

    mention_sender: bool = False
    quote: Literal["first", "never"] | None = None
    """None means what the delivery policy says."""
    delay: Annotated[list[Annotated[float, Field(ge=0, le=300)]], Field(min_length=2, max_length=2)] = [0, 0]
    """Seconds before a reply is sent: drawn between these two numbers."""
    tool_calls: Literal["hidden", "brief", "full"] = "hidden"
    thinking: Literal["hidden", "shown"] | None = None
    """None means what the delivery policy says."""

    @field_validator("delay")
    @classmethod
    def _in_order(cls, delay: list[float]) -> list[float]:
        if delay[0] > delay[1]:
            raise PydanticCustomError("delay", "the first number must not be above the second")
        return delay


class LongText(_Part):
    """What becomes of long replies."""

    over: int = Field(default=0, ge=0, le=1_000_000)
    """Characters above which a reply is long; 0 means that every reply is sent as text."""
    shape: Literal["split", "file", "image", "forward"] = Field(default="split", alias="as")
    """`image` and `forward` become a file where the platform or the text does not allow them."""

    @property
    def takes_text_away(self) -> bool:
        """True if a long reply has no text of its own, so that it can't be shown while it is written."""
        return self.over > 0 and self.shape in ("image", "forward")


class FailureText(_Part):
    """What the sender reads if the agent fails."""

    show: Literal["hint", "error", "nothing"] = "hint"
    hint: Sentence = ""
    """Text for `hint`, which may contain `{code}` and `{run_id}`; empty means the Host's own."""


class MessagePolicy(_Part):
    """Decides about messages of an agent, of a route, or of a pipeline. Fields that are left out change nothing."""

    wake: WakeRules | None = None
    gather: Gather = Gather()
    limits: Annotated[list[MessageLimit], Field(max_length=20)] = []
    filters: Filters = Filters()
    context: ContextRules = ContextRules()
    reply: ReplyStyle = ReplyStyle()
    long_text: LongText = LongText()
    failure: FailureText = FailureText()

    def given_fields(self) -> dict[str, Any]:
        """Returns the fields that were given, in the form in which they are stored."""
        return self.model_dump(mode="json", exclude_unset=True, by_alias=True)
