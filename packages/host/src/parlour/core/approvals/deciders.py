"""Who decides about an approval, and whether that is somebody who may."""

from typing import Any

from parlour.core.access.refusal import Refused
from parlour.core.events.envelope import Party
from parlour_sdk.values import dataclass

from .approval import Approval


@dataclass(frozen=True, slots=True)
class Decider:
    party: Party
    operator: bool = False
    """Somebody who runs the Host, and not only talks in a chat."""
    principal: str = ""
    """By whose key or login it is decided; whoever brought the event by it has asked, whomever the event names."""

    @property
    def name(self) -> str:
        return identity(self.party)

    @property
    def shown(self) -> str:
        """As people call them."""
        return self.party.name or self.party.id


def identity(party: Party) -> str:
    return f"{party.type}:{party.id}"


def check(approval: Approval, decider: Decider, now: int) -> None:
    """Raises Refused with a sentence for whoever asks."""
    if approval.status in ("approved", "denied"):
        raise Refused(
            "conflict", f"{approval.keyword}: it was decided before by {approval.decided_by}: {approval.status}."
        )
    if approval.status == "expired" or approval.expires_at <= now:
        raise Refused(
            "conflict", f"{approval.keyword}: it is too late. Nobody had decided in time, so it was not done."
        )
    if not _may(approval, decider):
        since = ", since you asked for it" if _asked(approval, decider) else ""
        raise Refused("denied", f"{approval.keyword}: you may not decide this{since}; {_who(approval.who)}.")


def _may(approval: Approval, decider: Decider) -> bool:
    who = approval.who
    if _asked(approval, decider):
        return bool(who["requester"])
    return decider.operator or decider.party.id in who["users"] or decider.party.data.get("role") in who["roles"]


def _asked(approval: Approval, decider: Decider) -> bool:
    brought = bool(decider.principal) and decider.principal == approval.who.get("principal")
    return brought or decider.name == approval.requester


def _who(who: dict[str, Any]) -> str:
    roles = f"{' or '.join(who['roles'])} of the group" if who["roles"] else ""
    users = _counted(len(who["users"]))
    asker = "whoever asked for it" if who["requester"] else ""
    return "it is for " + ", ".join(filter(None, (roles, users, asker, "an operator of the Host")))


def _counted(people: int) -> str:
    return f"{people} named people" if people > 1 else "one named person" if people else ""
