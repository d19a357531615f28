"""Shows the pages of plugins and passes their calls on, with the role of the user and an entry in the audit."""

from collections.abc import Sequence
from typing import Any, Literal, cast

from pydantic import BaseModel, ValidationError

from parlour.core.access import audit
from parlour.core.access.audit_writer import AuditWriter
from parlour.core.encoding import dumps
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginManager
from parlour.core.model.ports import Clock, PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry, RegisteredComponent
from parlour_sdk.protocol.component_specs import PageSpec
from parlour_sdk.protocol.pages import PageAnswer, PageCall, PageDocument, PageRead, PageRole, PageViewer
from parlour_sdk.values import dataclass

from ..errors import Problem, not_found
from ..principals import Principal

PluginPage = RegisteredComponent[PageSpec]

CALL_SECONDS = 30.0
"""Seconds that a plugin has for one call of its page."""
MAX_DATA_BYTES = 256 * 1024
"""Size of the data of a call, and of its answer."""


@dataclass(frozen=True, slots=True)
class PluginPages:
    """Finds the pages of running plugins and calls them."""

    plugins: PluginManager
    components: ComponentRegistry
    caller: PluginCaller
    audit_log: AuditWriter
    clock: Clock

    def all(self, author: str, name: str) -> Sequence[PluginPage]:
        """Returns the pages of a plugin. Raises Problem if it is not installed."""
        plugin_id = PluginId(f"{author}/{name}")
        if self.plugins.get(plugin_id) is None:
            raise not_found(f"plugin '{plugin_id}'", "GET /api/v1/plugins lists them")
        return [each for each in self.components.pages() if each.plugin_id == plugin_id]

    def get(self, author: str, name: str, page: str, principal: Principal) -> PluginPage:
        """Returns a page that the principal may open. Raises Problem."""
        for found in self.all(author, name):
            if found.name == page:
                if not principal.may(found.spec.role):
                    raise Problem(403, "forbidden", f"the page '{page}' needs the role {found.spec.role}")
                return found
        raise not_found(f"page '{page}'", f"GET /api/v1/plugins/{author}/{name}/pages lists those of running plugins")

    async def document(self, page: PluginPage) -> str:
        """Returns the HTML of a page as the plugin keeps it."""
        answer = await self._ask(page, "read_page", PageRead(page=page.name))
        document: PageDocument = _checked(PageDocument, answer, page)
        return document.html

    async def call(self, page: PluginPage, action: str, data: Any, principal: Principal) -> Any:
        """Calls the code behind a page. The audit names user, page and action, and not the data."""
        if len(dumps(data).encode(errors="replace")) > MAX_DATA_BYTES:
            raise Problem(413, "payload_too_large", f"the data of a call has at most {MAX_DATA_BYTES} bytes")
        await self._record(page, action, principal)
        request = PageCall(page=page.name, action=action, data=data, viewer=_viewer(principal))
        answer = _checked(PageAnswer, await self._ask(page, "call_page", request), page)
        if answer.error is not None:
            raise Problem(409, "plugin_refused", answer.error)
        if len(dumps(answer.data).encode(errors="replace")) > MAX_DATA_BYTES:
            raise Problem(502, "runner.protocol_error", f"{page.plugin_id} answered more than {MAX_DATA_BYTES} bytes")
        return answer.data

    async def _record(self, page: PluginPage, action: str, principal: Principal) -> None:
        """Writes the audit entry before the plugin is called."""
        try:
            self.audit_log.check_capacity()
        except CallRejected as refusal:
            raise Problem(503, "not_written", refusal.message) from refusal
        target = f"{page.plugin_id}/{page.name}"
        detail = {"action": action, "role": principal.scope}
        now = self.clock.now()
        self.audit_log.add([audit.change_entry(principal.owner, "plugin.page_call", target, None, detail, now)])
        await self.audit_log.flush()

    async def _ask(
        self, page: PluginPage, action: Literal["read_page", "call_page"], request: BaseModel
    ) -> dict[str, Any]:
        try:
            return await self.caller.call(page.plugin_id, action, request.model_dump(mode="json"), CALL_SECONDS)
        except (PluginUnavailable, PluginDisconnected) as error:
            raise Problem(503, error.code, f"the plugin {page.plugin_id} is not running; try again") from error
        except PluginCallFailed as error:
            if error.code == "deadline_exceeded":
                message = f"the plugin {page.plugin_id} did not answer within {CALL_SECONDS:g} s"
                raise Problem(504, "timeout", message) from error
            raise Problem(502, "plugin_failed", str(error)) from error


def _viewer(principal: Principal) -> PageViewer:
    return PageViewer(id=principal.owner, name=principal.name, role=cast(PageRole, principal.scope))


def _checked(model: Any, answer: dict[str, Any], page: PluginPage) -> Any:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        raise Problem(502, "runner.protocol_error", f"{page.plugin_id} gave an answer that can't be read") from error
