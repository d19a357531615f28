"""Every misbehaviour of this plugin, by name. The configuration chooses one, and it is carried out in full."""

import os
from collections.abc import AsyncGenerator, Callable

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

from . import crashing, escaping, flooding, hogging, lying
from .plain import normal

Behaviour = Callable[[AgentRunContext, AgentRunAPI], AsyncGenerator[Result, None]]

ALL: dict[str, Behaviour] = {
    "normal": normal,
    "crash_at_start": crashing.at_start,
    "crash_mid_run": crashing.mid_run,
    "exit_mid_run": crashing.exit_mid_run,
    "hang": crashing.hang,
    "ignore_cancel": crashing.ignore_cancel,
    "flood_deltas": flooding.deltas,
    "flood_calls": flooding.calls,
    "big_frame": flooding.big_frame,
    "huge_frame": flooding.huge_frame,
    "invalid_json": lying.invalid_json,
    "invalid_results": lying.invalid_results,
    "foreign_run": lying.foreign_run,
    "foreign_identity": lying.foreign_identity,
    "ended_run": lying.ended_run,
    "print_stdout": lying.print_stdout,
    "close_stdout": lying.close_stdout,
    "fork_children": hogging.fork_children,
    "leak_memory": hogging.leak_memory,
    "fill_disk": hogging.fill_disk,
    "read_host_database": escaping.read_host_database,
    "read_other_plugin": escaping.read_other_plugin,
    "connect_out": escaping.connect_out,
    "kill_parent": escaping.kill_parent,
}


def at_start() -> None:
    """Carries out what an earlier run left for this process; does nothing outside a Host."""
    if "PARLOUR_PLUGIN_DATA" in os.environ:
        crashing.crash_if_told()
        hogging.tidy_up()
