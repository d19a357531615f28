"""Asks people for a permission while a run goes on."""

from collections.abc import AsyncGenerator

from parlour_sdk.protocol.live_permissions import AskPermission, PermissionAnswer

from .calls import Namespace


class PermissionsAPI(Namespace):
    def ask(
        self, title: str, details: str = "", *, offers_always: bool = False, always_label: str = ""
    ) -> AsyncGenerator[PermissionAnswer, None]:
        """Asks, and yields `pending` and then the decision. Close it to withdraw the question."""
        return self._calls.stream(
            "ask_permission",
            AskPermission,
            PermissionAnswer,
            title=title,
            details=details,
            offers_always=offers_always,
            always_label=always_label,
        )
