"""Lists the visible effects of each behaviour for the user, the operator and the ledger."""

from dataclasses import dataclass

STOPPED = "The agent stopped unexpectedly while it was answering. Please ask again."
TOO_LARGE = "malformed_frame: a frame may have at most 2097152 bytes"


@dataclass(frozen=True, slots=True)
class Answered:
    """Describes a behaviour whose run completes and whose process keeps running."""

    behaviour: str
    text: str
    """Pattern of the text that the user reads."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Describes a behaviour whose process is ended and whose user is notified."""

    behaviour: str
    reason: str
    """Pattern of the plugin's reason that the operator reads."""
    lost: str = ""
    """Pattern of the run's error in the ledger, if it is not the same."""


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
