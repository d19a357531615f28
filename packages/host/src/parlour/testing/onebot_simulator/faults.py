"""Plans faults of the simulated implementation in OneBot's own form."""

from dataclasses import dataclass, field
from typing import Any

from parlour.testing.simulator import RateWindows, SimulatorFaults

from .world import Failed


@dataclass
class Faults(SimulatorFaults[Failed]):
    sends_per_second: float = 0.0
    """Sends above this rate are refused as too frequent; 0 means no limit."""
    _rates: RateWindows = field(default_factory=RateWindows, init=False)

    def refuse(
        self, action: str, retcode: int = 1200, wording: str = "it failed", data: Any = None, skip: int = 0
    ) -> None:
        """Plans a fault of the next such call, or of a later one."""
        self.refuse_with(action, Failed(retcode, wording, data), skip=skip)

    def check_rate(self, action: str) -> None:
        limited = self.sends_per_second and action.startswith("send_")
        if limited and self._rates.seconds_to_wait({"sends": (self.sends_per_second, 1.0)}):
            raise Failed(1429, "messages are sent too frequently", {"retry_after": 1})
