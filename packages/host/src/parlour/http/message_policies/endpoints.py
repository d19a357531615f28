"""Endpoint that checks a message policy and explains it in sentences."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from parlour.core.message_policy.description import describe_policy
from parlour.core.message_policy.filters import TextFilters
from parlour.core.message_policy.references import PolicyReferences
from parlour.core.message_policy.schema import MessagePolicy

from ..api_router import ApiRouter
from ..auth import Viewer
from ..errors import invalid_field


class PolicyCheckBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"message_policy": {"limits": [{"per": "sender", "count": 20}]}}]},
    )

    message_policy: MessagePolicy


class PolicySentenceResponse(TypedDict):
    code: str
    values: dict[str, Any]
    text: str


class PolicyCheck(TypedDict):
    message_policy: dict[str, Any]
    """The policy with all fields."""
    streams: bool
    """Whether replies can be shown while they are written."""
    sentences: list[PolicySentenceResponse]


def check_policy(policy: MessagePolicy | None, references: PolicyReferences, field: str = "message_policy") -> None:
    """Checks what a policy refers to. Raises a Problem that names the field."""
    missing = references.find_missing(policy) if policy is not None else None
    if missing is not None:
        raise invalid_field(f"{field}.{missing[0]}", missing[1])


def router(references: PolicyReferences, filters: TextFilters) -> APIRouter:
    routes = ApiRouter(tags=["message policies"])

    @routes.post("/message-policies/check")
    async def check_message_policy(body: PolicyCheckBody, principal: Viewer) -> PolicyCheck:
        """Nothing is stored."""
        policy = body.message_policy
        check_policy(policy, references)
        outputs = policy.filters.output
        can_mask = not outputs or filters.word_matcher(outputs) is not None
        may_stream = can_mask and not policy.reply.delay[1] and not policy.long_text.takes_text_away
        sentences = describe_policy(policy, may_stream)
        return {
            "message_policy": policy.model_dump(mode="json"),
            "streams": may_stream,
            "sentences": [{"code": each.code, "values": each.values, "text": each.text} for each in sentences],
        }

    return routes
