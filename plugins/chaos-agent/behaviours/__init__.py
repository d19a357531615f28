"""Every misbehaviour of this plugin, by name. The configuration chooses one, and it is carried out in full."""

import os
from collections.abc import AsyncGenerator, Callable

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

from . import crashes, escapes, floods, protocol_violations, resource_hogs
from .plain import normal

Behaviour = Callable[[AgentRunContext, AgentRunAPI], AsyncGenerator[Result, None]]

BEHAVIOURS: dict[str, Behaviour] = {
    "normal": normal,
    "crash_at_start": crashes.at_start,
    "crash_mid_run": crashes.mid_run,
    "exit_mid_run": crashes.exit_mid_run,
    "hang": crashes.hang,
    "ignore_cancel": crashes.ignore_cancel,
    "flood_deltas": floods.deltas,
    "flood_calls": floods.calls,
    "big_frame": floods.big_frame,
    "huge_frame": floods.huge_frame,
    "invalid_json": protocol_violations.invalid_json,
    "invalid_results": protocol_violations.invalid_results,
    "foreign_run": protocol_violations.foreign_run,
    "foreign_identity": protocol_violations.foreign_identity,
    "ended_run": protocol_violations.ended_run,
    "print_stdout": protocol_violations.print_stdout,
    "close_stdout": protocol_violations.close_stdout,
    "fork_children": resource_hogs.fork_children,
    "leak_memory": resource_hogs.leak_memory,
    "fill_disk": resource_hogs.fill_disk,
    "read_host_database": escapes.read_host_database,
    "read_other_plugin": escapes.read_other_plugin,
    "connect_out": escapes.connect_out,
    "kill_parent": escapes.kill_parent,
}


def at_start() -> None:
    """Carries out what an earlier run left for this process; does nothing outside a Host."""
    if "PARLOUR_PLUGIN_DATA" in os.environ:
        crashes.crash_if_marked()
        resource_hogs.delete_hoard()
