"""Declares response schemas for the OpenAPI document. They neither validate nor change responses at run time.

An endpoint's return type is the schema of its response: a typed dictionary, which mypy checks and which costs nothing
until the document is built. `ResponseSchema` is for responses that are built in another way: a dumped model, a
`Response`, or several schemas by status.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from parlour_sdk.values import dataclass

Json = dict[str, Any]
Item = TypeVar("Item")

TimestampMs = Annotated[int, Field(description="Milliseconds since 1970", examples=[1789026600000])]
Id = Annotated[str, Field(examples=["01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41"])]
LocalizedText = Annotated[
    dict[str, str], Field(description="A text by language", examples=[{"en": "Echo", "zh_Hans": "回声"}])
]
Micros = Annotated[int, Field(description="Millionths of the currency")]


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """The schema of a successful response; a dictionary by status if there are several."""

    shape: Any

    def by_status(self, status: int) -> Mapping[int, Any]:
        return self.shape if isinstance(self.shape, dict) else {status: self.shape}


class PageResponse(TypedDict, Generic[Item]):
    items: list[Item]
    next_cursor: Annotated[str | None, Field(description="For the next page, as `cursor`; null on the last one")]


class NewConversationResponse(TypedDict):
    """A chat that begins anew."""

    conversation_id: Id
    """What is said from now on is said here."""
