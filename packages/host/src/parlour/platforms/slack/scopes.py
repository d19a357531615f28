"""Finds the scopes without which an app does nothing useful, so that the status can name them before a call fails."""

NEEDED = ("chat:write", "users:read")
READING = ("im:history", "channels:history", "groups:history", "mpim:history")
"""Scopes with which messages are reported; one of them is enough."""


def scope_problem(granted: frozenset[str] | None) -> str:
    """Returns what an operator has to add, in a sentence; empty if nothing is missing or the scopes are not known."""
    if granted is None:
        return ""
    missing = [name for name in NEEDED if name not in granted]
    if not granted.intersection(READING):
        missing.append(READING[0])
    if not missing:
        return ""
    names = ", ".join(missing)
    return f"the app lacks the scopes {names}; add them on the page OAuth & Permissions and install the app again"
