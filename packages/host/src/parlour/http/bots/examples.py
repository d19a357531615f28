"""An example event as the router sees it, out of what a person wrote for a dry run. Nothing of it is kept."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour.core.events.envelope import EventContext, EventEnvelope, Party
from parlour.core.platforms.chats import SURFACE
from parlour_sdk.protocol.events import ALIASES

from .checking import refused_fields


class _Person(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = ""
    actor_id: str = ""
    is_bot: bool = False
    role: str = ""
    metadata: dict[str, Any] = {}
    user: "_Person | None" = None
    """Of a group's member."""

    def party(self) -> Party:
        inner = self.user or self
        known = {"is_bot": True} if inner.is_bot else {}
        role = {"role": self.role} if self.role else {}
        return Party("user", inner.id or inner.actor_id, "", {**known, **role, **self.metadata})


class _Component(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = ""


class _Example(BaseModel):
    """What a filter can look at; everything else is the event's data."""

    model_config = ConfigDict(extra="allow")

    type: str = "message.received"
    event_type: str = ""
    event_id: str = "example"
    thread_id: str = ""
    timestamp: int = Field(default=0, ge=0)
    text: str | None = None
    input: _Component = _Component()
    message_chain: list[_Component] = []
    actor: _Person | None = None
    sender: _Person | None = None
    user: _Person | None = None
    member: _Person | None = None
    role: str = ""
    data: dict[str, Any] = {}

    def words(self) -> str:
        return self.text or self.input.text or "".join(each.text for each in self.message_chain)

    def who(self) -> Party:
        person = self.actor or self.sender or self.user or self.member or _Person()
        return person.model_copy(update={"role": self.role or person.role}).party()


def example(bot_id: str, adapter: str, event: dict[str, Any]) -> EventEnvelope:
    try:
        told = _Example.model_validate(event)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        fields = [(".".join(["event", *map(str, each["loc"])]), each["msg"]) for each in problems]
        raise refused_fields(fields) from error
    own = {name: value for name, value in event.items() if name not in ("data", "input", "text")}
    name = told.event_type or told.type
    return EventEnvelope(
        event_id=told.event_id,
        event_type=ALIASES.get(name, name),
        source=adapter,
        chat="example",
        context=EventContext(told.event_id),
        surface=SURFACE,
        bot_id=bot_id,
        thread_id=told.thread_id,
        event_time=told.timestamp,
        actor=told.who(),
        input={"text": told.words()},
        data={**_room(event), **own, **told.data},
    )


def _room(event: dict[str, Any]) -> dict[str, str]:
    """An event of a group happens in its chat."""
    group = event.get("group")
    return {"chat_type": "group", "chat_id": str(group["id"])} if isinstance(group, dict) and group.get("id") else {}
