"""Questions that a running agent asks people before it goes on, such as whether a coding agent may write a file."""

from typing import Literal

from .base import Tolerant
from .calls import RunCall

LIVE_PERMISSION = "harness.permission"
"""Action of these questions in manifests and approval policies."""


class AskPermission(RunCall):
    """Asks people and streams the answer. A stream that is closed before withdraws the question."""

    title: str
    """What is to be allowed, in one line."""
    details: str = ""
    """The command, the changed lines or the arguments."""
    offers_always: bool = False
    """True if people may also allow everything of its kind from now on."""
    always_label: str = ""
    """What is allowed then, as the agent says."""


class PermissionAnswer(Tolerant):
    """First `pending`, unless no question is needed, and last the decision."""

    status: Literal["pending", "approved", "denied", "expired"]
    approval_id: str = ""
    always: bool = False
    """True if everything of its kind is allowed from now on."""
    reason: str = ""
