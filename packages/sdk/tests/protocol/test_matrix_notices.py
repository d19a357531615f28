"""Tests that the matrix detects each entity that deviates from the contract in one small way."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from parlour_sdk.protocol.base import Key
from parlour_sdk.protocol.chain import Image
from parlour_sdk.protocol.content import ContentElement, MediaElement, QuoteElement, TextElement
from parlour_sdk.protocol.context import AgentRunRequest
from parlour_sdk.protocol.history import HistoryPage, HistoryPageGet
from parlour_sdk.protocol.messages import Message, ToolCall
from parlour_sdk.protocol.models import Rerank
from parlour_sdk.protocol.platform_events import PlatformSpecific
from parlour_sdk.protocol.results import MessageCompleted, RunCompleted, ToolCallStarted
from parlour_sdk.protocol.state import StateGet, StateSet

from .matrix import cases
from .test_matrix import deviations


class OptionalKey(StateGet):
    key: Key = "key"


class NullableKey(StateGet):
    key: Key | None  # type: ignore[assignment]


class EmptyKey(StateGet):
    key: str = Field(max_length=255)


class LongerKey(StateGet):
    key: str = Field(min_length=1, max_length=256)


class ShorterKey(StateGet):
    key: str = Field(min_length=1, max_length=254)


class NumberedKey(StateGet):
    key: str | int  # type: ignore[assignment]


class AnyScope(StateGet):
    scope: str  # type: ignore[assignment]


class FewerScopes(StateGet):
    scope: Literal["conversation", "actor", "subject", "runner"]


class ObjectValue(StateSet):
    value: dict[str, Any]  # type: ignore[assignment]


class HigherLimit(HistoryPageGet):
    limit: int = Field(default=50, ge=1, le=101)


class NoLowerLimit(HistoryPageGet):
    limit: int = Field(default=50, le=100)


class AnotherDefault(HistoryPageGet):
    limit: int = Field(default=51, ge=1, le=100)


class LaxTypes(HistoryPageGet):
    model_config = ConfigDict(strict=False)


class Forbidding(HistoryPageGet):
    model_config = ConfigDict(extra="forbid")


class Ignoring(HistoryPage):
    model_config = ConfigDict(extra="ignore")


class Keeping(HistoryPageGet):
    model_config = ConfigDict(extra="allow")


class Dropping(ToolCallStarted):
    model_config = ConfigDict(extra="ignore")


class NoItems(HistoryPage):
    items: list[Any] = Field(default=[])


class MoreDocuments(Rerank):
    documents: list[str] = Field(min_length=1, max_length=65)


class NoDocuments(Rerank):
    documents: list[str] = Field(max_length=64)


class UntypedDocuments(Rerank):
    documents: list[Any] = Field(min_length=1, max_length=64)


class UntypedContext(AgentRunRequest):
    context: dict[str, Any]  # type: ignore[assignment]


class TolerantMessage(MessageCompleted):
    message: Message  # type: ignore[assignment]


class FewerReasons(RunCompleted):
    finish_reason: Literal["stop", "silent"] = "stop"


class AnySource(MediaElement):
    def _one_source(self) -> "MediaElement":
        return self


class AnyImageSource(Image):
    def _one_source(self) -> "Image":
        return self


class FewerElements(QuoteElement):
    contents: list[TextElement] = Field(default=[])  # type: ignore[assignment]


class TextOnly(Message):
    content: str = ""


class UntaggedUnion(Message):
    content: str | list[ContentElement] = ""


class OptionalArguments(ToolCall):
    id: str = ""


class AnyType(PlatformSpecific):
    type: str


DEVIATING = [each for each in list(vars().values()) if getattr(each, "__module__", "") == __name__]


@pytest.mark.parametrize("deviating", DEVIATING, ids=lambda entity: entity.__name__)
def test_a_small_deviation_from_the_contract_is_detected(deviating: type[BaseModel]) -> None:
    found = [each for case in cases(deviating.__mro__[1].__name__) for each in deviations(deviating, case)]
    assert found


def test_an_entity_that_matches_the_contract_has_no_deviation() -> None:
    assert not [each for case in cases("StateGet") for each in deviations(StateGet, case)]
