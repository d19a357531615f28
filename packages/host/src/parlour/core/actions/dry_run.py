"""Wraps the action handlers for reruns: reads are real, changes go to a private copy or are only recorded.

Tools that are not read-only are called only if the user who requested the rerun allowed it. The
table of Host actions says how an action is handled; an action without such an entry is refused in a rerun.
"""

import base64
import binascii
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from parlour.core.approvals.tool_approvals import tool_rule
from parlour.core.errors import CallRejected
from parlour.core.model.providers import Tools
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.dry_run_state import DryRunState
from parlour_sdk.protocol.actions import ActionOutcome, RequestAction
from parlour_sdk.protocol.calls import Call, Done
from parlour_sdk.protocol.host_actions import HOST_ACTIONS, HostAction
from parlour_sdk.protocol.limits import STATE_LIST_KEYS
from parlour_sdk.protocol.state import StateDelete, StateGet, StateKeys, StateList, StateSet, StateValue
from parlour_sdk.protocol.storage import (
    StorageDelete,
    StorageGet,
    StorageKeys,
    StorageList,
    StorageSet,
    StorageValue,
)
from parlour_sdk.protocol.tools import CallTool

from .handlers import Handler

RealHandler = Callable[[ActionCaller, Any], Awaitable[BaseModel]]
"""The real handler of an action."""
DryRunHandler = Callable[[ActionCaller, DryRunState, Any, RealHandler], Awaitable[BaseModel]]
"""Executes an action of a rerun without lasting effects."""


class DryRunActions:
    """Wraps action handlers so that a rerun has no lasting effects."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def wrap(self, handlers: Mapping[str, Any]) -> Mapping[str, Handler]:
        """Returns the handlers with those replaced that could have effects in a rerun."""
        return {name: self._wrap_handler(name, each) for name, each in handlers.items()}

    def _wrap_handler(self, name: str, handler: Any) -> Handler:
        action = HOST_ACTIONS[name]
        if action.dry_run == "execute" or action.where == "plugin":
            wrapped: Handler = handler
            return wrapped
        if action.streams:
            return _refusing_stream(handler)
        handle_dry_run = self._dry_run_handler(action)

        async def act(caller: ActionCaller, request: Call) -> BaseModel:
            dry_run = caller.session.dry_run if caller.session is not None else None
            if dry_run is None:
                answer: BaseModel = await handler(caller, request)
                return answer
            return await handle_dry_run(caller, dry_run, request, handler)

        return act

    def _dry_run_handler(self, action: HostAction) -> DryRunHandler:
        match action.dry_run:
            case "copy":
                return COPIED_ACTIONS[action.name]
            case "check_tool":
                return self._call_tool
            case "record":
                return _record_only
            case _:
                return _refuse

    async def _call_tool(
        self, caller: ActionCaller, dry_run: DryRunState, request: CallTool, call: RealHandler
    ) -> BaseModel:
        name = request.tool_name
        if tool_rule(caller.run_session, name, request.parameters, self._tools).decision == "ask":
            caller.run_session.meter.record_event("tool.withheld", {"name": name, "parameters": request.parameters})
            raise CallRejected(
                "denied", f"tool '{name}' needs a person's approval, and a rerun neither asks nor calls it"
            )
        if not self._tools.read_only(name) and name not in dry_run.effects:
            caller.run_session.meter.record_event("tool.withheld", {"name": name, "parameters": request.parameters})
            message = f"tool '{name}' is not read-only, and this rerun was asked for without its effects"
            raise CallRejected("denied", f"{message}; whoever asks for it can name the tool in allow_effects")
        return await call(caller, request)


async def _record_only(
    caller: ActionCaller, dry_run: DryRunState, request: RequestAction, call: RealHandler
) -> BaseModel:
    data = {"action": request.action, "target": request.target, "payload": request.payload}
    caller.run_session.meter.record_event("action.recorded", data)
    return ActionOutcome(status="done", result={"executed": False})


async def _refuse(caller: ActionCaller, dry_run: DryRunState, request: Call, call: RealHandler) -> BaseModel:
    raise CallRejected("denied", "a rerun changes nothing: this action is not carried out in it")


def _refusing_stream(handler: Any) -> Handler:
    async def stream(caller: ActionCaller, request: Call) -> AsyncGenerator[Any, None]:
        if caller.session is not None and caller.session.dry_run is not None:
            raise CallRejected("denied", "a rerun changes nothing: this action is not carried out in it")
        async with aclosing(handler(caller, request)) as parts:
            async for part in parts:
                yield part

    return stream


async def _state_get(caller: ActionCaller, dry_run: DryRunState, request: StateGet, call: RealHandler) -> BaseModel:
    values = dry_run.state[request.scope]
    return StateValue(found=request.key in values, value=values.get(request.key))


async def _state_set(caller: ActionCaller, dry_run: DryRunState, request: StateSet, call: RealHandler) -> BaseModel:
    dry_run.count_bytes(len(to_json(request.value)))
    dry_run.state[request.scope][request.key] = request.value
    return Done()


async def _state_delete(
    caller: ActionCaller, dry_run: DryRunState, request: StateDelete, call: RealHandler
) -> BaseModel:
    dry_run.state[request.scope].pop(request.key, None)
    return Done()


async def _state_list(caller: ActionCaller, dry_run: DryRunState, request: StateList, call: RealHandler) -> BaseModel:
    names = sorted(name for name in dry_run.state[request.scope] if name.startswith(request.prefix or ""))
    return StateKeys(keys=names[:STATE_LIST_KEYS], has_more=len(names) > STATE_LIST_KEYS)


async def _storage_get(caller: ActionCaller, dry_run: DryRunState, request: StorageGet, call: RealHandler) -> BaseModel:
    if (request.area, request.key) not in dry_run.storage:
        return await call(caller, request)
    value = dry_run.storage[request.area, request.key]
    if value is None:
        return StorageValue(found=False)
    return StorageValue(found=True, content_base64=base64.b64encode(value).decode())


async def _storage_set(caller: ActionCaller, dry_run: DryRunState, request: StorageSet, call: RealHandler) -> BaseModel:
    try:
        value = base64.b64decode(request.content_base64, validate=True)
    except binascii.Error:
        raise CallRejected("invalid_argument", "content_base64 is not base64") from None
    dry_run.count_bytes(len(value))
    dry_run.storage[request.area, request.key] = value
    return Done()


async def _storage_delete(
    caller: ActionCaller, dry_run: DryRunState, request: StorageDelete, call: RealHandler
) -> BaseModel:
    dry_run.storage[request.area, request.key] = None
    return Done()


async def _storage_list(
    caller: ActionCaller, dry_run: DryRunState, request: StorageList, call: RealHandler
) -> BaseModel:
    stored_keys = await call(caller, request)
    assert isinstance(stored_keys, StorageKeys)
    prefix = request.prefix or ""
    overrides = {key: value for (area, key), value in dry_run.storage.items() if area == request.area}
    written_keys = {key for key, value in overrides.items() if value is not None and key.startswith(prefix)}
    names = sorted(({*stored_keys.keys} - overrides.keys()) | written_keys)
    return StorageKeys(keys=names[:STATE_LIST_KEYS], has_more=stored_keys.has_more or len(names) > STATE_LIST_KEYS)


COPIED_ACTIONS: dict[str, DryRunHandler] = {
    "state_get": _state_get,
    "state_set": _state_set,
    "state_delete": _state_delete,
    "state_list": _state_list,
    "storage_get": _storage_get,
    "storage_set": _storage_set,
    "storage_delete": _storage_delete,
    "storage_list": _storage_list,
}
"""Actions that work on the private copy of a rerun."""
