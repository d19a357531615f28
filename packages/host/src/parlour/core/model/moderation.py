"""The request to a moderation model, and its verdict. Only the Host asks; plugins see no moderation models."""

from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

from .ids import ModelId


@dataclass(frozen=True, slots=True)
class Moderate:
    """Asks a moderation model about texts that belong together."""

    model_id: ModelId
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModerationCategory:
    """One kind of content, over all texts of a request."""

    name: str
    is_flagged: bool
    score: float


@dataclass(frozen=True, slots=True)
class ModerationAnswer:
    """What a moderation model says about texts."""

    is_flagged: bool
    categories: tuple[ModerationCategory, ...]
    usage: Usage | None = None
