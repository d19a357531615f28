"""A message as platforms carry it: an ordered list of components."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from .base import Listed, Tolerant, require_one
from .limits import NESTED_QUOTES


class Source(Tolerant):
    """Which message this is; at most once, at the head."""

    type: Literal["Source"] = "Source"
    id: str
    time: int | None = None


class Plain(Tolerant):
    """Text."""

    type: Literal["Plain"] = "Plain"
    text: str


class At(Tolerant):
    """Somebody is addressed."""

    type: Literal["At"] = "At"
    target: str
    """The id of the user."""
    display: str | None = None
    """As it is shown."""


class AtAll(Tolerant):
    """Everybody in the chat is addressed."""

    type: Literal["AtAll"] = "AtAll"


class Media(Tolerant):
    """Base of media components: exactly one of url, path, base64 and artifact_id says where the content is."""

    ONE_OF: ClassVar = ("url", "path", "base64", "artifact_id")

    type: str
    url: str | None = None
    path: str | None = None
    """A file on the machine of the adapter; never leaves the Host."""
    base64: str | None = None
    artifact_id: str | None = None
    name: str | None = None
    size: int | None = None
    """Bytes."""
    mime_type: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Media":
        require_one(self, self.ONE_OF)
        return self


class Image(Media):
    """A picture: exactly one of url, path, base64 and artifact_id says where it is."""

    type: Literal["Image"] = "Image"


class Voice(Media):
    """Something said or played: exactly one of url, path, base64 and artifact_id says where it is."""

    type: Literal["Voice"] = "Voice"
    duration: float | None = None
    """Seconds."""


class File(Media):
    """Any other file: exactly one of url, path, base64 and artifact_id says where it is."""

    type: Literal["File"] = "File"


class Video(Media):
    """A film: exactly one of url, path, base64 and artifact_id says where it is."""

    type: Literal["Video"] = "Video"
    duration: float | None = None
    """Seconds."""


class Quote(Tolerant):
    """The message that this one answers. Quotes and forwards nest at most 8 deep."""

    type: Literal["Quote"] = "Quote"
    id: str | None = None
    sender: str | None = None
    """The id of its author."""
    name: str | None = None
    """The name of its author."""
    origin: "MessageChain" = []

    @model_validator(mode="after")
    def _not_too_deep(self) -> "Quote":
        _check_depth(self)
        return self


class Face(Tolerant):
    """A platform's own small picture."""

    type: Literal["Face"] = "Face"
    id: str
    name: str | None = None


class ForwardNode(Tolerant):
    """One of the messages that are handed on."""

    sender: str | None = None
    name: str | None = None
    time: int | None = None
    message_id: str | None = None
    chain: "MessageChain" = []


class Forward(Tolerant):
    """Several messages handed on as one. Quotes and forwards nest at most 8 deep."""

    type: Literal["Forward"] = "Forward"
    nodes: Listed[ForwardNode] = []

    @model_validator(mode="after")
    def _not_too_deep(self) -> "Forward":
        _check_depth(self)
        return self


class Unknown(Tolerant):
    """Something the adapter could not read; `text` says what is known."""

    type: Literal["Unknown"] = "Unknown"
    text: str = ""


class Platform(Tolerant):
    """What has no common shape."""

    type: Literal["Platform"] = "Platform"
    platform: str
    component_type: str
    data: dict[str, Any] = {}
    text: str | None = None
    """The part in words, as people and models read it: a card's title and link, a poll's question and options."""


Component = Annotated[
    Source | Plain | At | AtAll | Image | Voice | File | Video | Quote | Face | Forward | Unknown | Platform,
    Field(discriminator="type"),
]
MessageChain = Listed[Component]
"""A message as an ordered list of components; adapters keep the order in both directions."""


def chain_text(chain: MessageChain) -> str:
    """Returns the text of a chain."""
    return "".join(component.text for component in chain if isinstance(component, Plain))


def _check_depth(component: Quote | Forward) -> None:
    if _depth(component) > NESTED_QUOTES:
        raise ValueError(f"quotes and forwards nest at most {NESTED_QUOTES} deep")


def _depth(component: Quote | Forward) -> int:
    chains = [component.origin] if isinstance(component, Quote) else [node.chain for node in component.nodes]
    depths = (_depth(each) for chain in chains for each in chain if isinstance(each, Quote | Forward))
    return 1 + max(depths, default=0)
