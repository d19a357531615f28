"""What people see of each behaviour: whoever asked, whoever runs the Host, and whoever reads the ledger."""

from dataclasses import dataclass

STOPPED = "The agent stopped unexpectedly while it was answering. Please ask again."
TOO_LARGE = "malformed_frame: a frame may have at most 2097152 bytes"


@dataclass(frozen=True, slots=True)
class Answered:
    """Its own run ends well, and its process goes on."""

    behaviour: str
    text: str
    """What the user reads, as a pattern."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Its process is ended, and the user is told."""

    behaviour: str
    reason: str
    """What the operator reads of the plugin, as a pattern."""
    lost: str = ""
    """What the ledger says of the run, as a pattern, when it is not the same."""


ANSWERED = [
    Answered("flood_deltas", r"15000 fragments"),
    Answered("flood_calls", r"\d+ of \d+ calls were refused"),
    Answered("invalid_results", r"after all that, an answer"),
    Answered("foreign_run", r"the other run could not be reached: unauthorized"),
    Answered("foreign_identity", r"the other identity was refused: unauthorized"),
    Answered("ended_run", r"farewell"),
    Answered("print_stdout", r"printed"),
    Answered("read_host_database", r"not reached: .*parlour\.db: No such file or directory"),
    Answered("read_other_plugin", r"not reached: .*echo-agent: No such file or directory"),
    Answered("connect_out", r"not reached: 127\.0\.0\.1:\d+: .*(Connection refused|Connect call failed).*"),
    Answered("kill_parent", r"reached: the parent was signalled"),
]
ENDED = [
    Ended("crash_at_start", r"its process ended \(signal 6: Aborted\)", "its process ended"),
    Ended("crash_mid_run", r"its process ended \(signal 6: Aborted\)", "its process ended"),
    Ended("exit_mid_run", r"its process ended \(exit status 0\)", "its process ended"),
    Ended("hang", r"its event loop did not answer for \d"),
    Ended("big_frame", f"it was cut off: {TOO_LARGE}", TOO_LARGE),
    Ended("huge_frame", f"it was cut off: {TOO_LARGE}", TOO_LARGE),
    Ended("invalid_json", r"it was cut off: malformed frame: a frame must be JSON", "malformed frame: .* be JSON"),
    Ended("close_stdout", r"its (process ended|event loop did not answer)"),  # whichever is noticed first
    Ended("fork_children", r"its process ended \(exit status 1\)", "its process ended"),
    Ended("leak_memory", r"it used more than 256 MB of memory"),
    Ended("fill_disk", r"its data folder holds more than 64 MB"),
]
