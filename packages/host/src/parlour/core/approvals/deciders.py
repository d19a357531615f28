"""Checks who may decide on an approval."""

from typing import Any

from parlour.core.errors import CallRejected
from parlour.core.model.event import Participant
from parlour.core.store.approvals import Approval
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, text
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Decider:
    """The person who decides."""

    participant: Participant
    operator: bool = False
    """True for an operator of the Host, false for a user of a chat."""
    principal: str = ""
    """The API key or login by which it is decided. The principal that brought the event counts as the requester,
    whichever actor the event names.
    """

    @property
    def name(self) -> str:
        return identity(self.participant)

    @property
    def display_name(self) -> str:
        """The name as users know it."""
        return self.participant.name or self.participant.id


def identity(party: Participant) -> str:
    """Returns the participant's type and id as one text."""
    return f"{party.type}:{party.id}"


def ensure_may_decide(approval: Approval, decider: Decider, now: int, language: str = DEFAULT_LANGUAGE) -> None:
    """Raises Refused, with a message for the decider, if this person may not decide or it is too late."""
    keyword = approval.keyword
    if approval.status in ("approved", "denied"):
        values = {"keyword": keyword, "by": approval.decided_by, "status": approval.status}
        raise CallRejected("conflict", text("approval.decided_before", language, **values))
    if approval.status == "expired" or approval.expires_at <= now:
        raise CallRejected("conflict", text("approval.too_late", language, keyword=keyword))
    if not _may_decide(approval, decider):
        key = "approval.not_yours_asked" if _is_requester(approval, decider) else "approval.not_yours"
        raise CallRejected("denied", text(key, language, keyword=keyword, who=_who(approval.who, language)))


def _may_decide(approval: Approval, decider: Decider) -> bool:
    who = approval.who
    if _is_requester(approval, decider):
        return bool(who["requester"])
    return (
        decider.operator
        or decider.participant.id in who["users"]
        or decider.participant.data.get("role") in who["roles"]
    )


def _is_requester(approval: Approval, decider: Decider) -> bool:
    brought = bool(decider.principal) and decider.principal == approval.who.get("principal")
    return brought or decider.name == approval.requester


def _who(who: dict[str, Any], language: str) -> str:
    either = text("approval.who.or", language).join(who["roles"])
    roles = text("approval.who.roles", language, roles=either) if either else ""
    users = _counted(len(who["users"]), language)
    asker = text("approval.who.requester", language) if who["requester"] else ""
    parts = (roles, users, asker, text("approval.who.operator", language))
    return text("approval.who.and", language).join(filter(None, parts))


def _counted(people: int, language: str) -> str:
    return text("approval.who.many" if people > 1 else "approval.who.one", language, count=people) if people else ""
