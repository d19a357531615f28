"""What is known of services and models before anybody configures one. Where it is written down others know."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol

from parlour.core.model.model_config import Model, ModelType, Prices
from parlour_sdk.values import dataclass

Dialect = Literal["openai", "anthropic", "gemini", "demo"]


@dataclass(frozen=True, slots=True)
class KnownModel:
    name: str
    type: ModelType = "llm"
    context_window: int = 0
    max_output_tokens: int = 0
    abilities: tuple[str, ...] = ()
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A service, or a family of servers that speak alike."""

    kind: str
    label: str
    dialect: Dialect
    base_url: str = ""
    """Empty when everybody has their own."""
    needs_key: bool = True
    key_page: str = ""
    """Where a key is made."""
    free: bool = False
    """It runs on machines of one's own: nobody charges for it."""
    currency: str = "USD"
    rerank_path: str = "/rerank"
    limit_word: str = "max_tokens"
    """What the service calls the limit of an answer."""
    returns_reasoning: bool = False
    """It wants its own thoughts back beside the tool calls that they led to."""
    models: tuple[KnownModel, ...] = ()

    def known(self, name: str) -> KnownModel | None:
        return next((each for each in self.models if each.name == name), None)


class Catalogue(Protocol):
    def kinds(self) -> Sequence[Kind]: ...

    def get(self, kind: str) -> Kind | None: ...


def completed(model: Model, kind: Kind, abilities_said: bool) -> Model:
    """With what the catalogue knows of a model of this name, where nothing was said."""
    known = kind.known(model.name) or KnownModel(model.name)
    free = Prices() if kind.free else None
    return replace(
        model,
        context_window=model.context_window or known.context_window,
        max_output_tokens=model.max_output_tokens or known.max_output_tokens,
        abilities=model.abilities if abilities_said else known.abilities,
        prices=model.prices or known.prices or free,
    )
