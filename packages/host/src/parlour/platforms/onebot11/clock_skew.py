"""Compares an implementation's clock with the Host's, using its lifecycle and heartbeat events.

Times are in milliseconds.
"""

MIN_REPORTED_SKEW_MILLISECONDS = 120_000
"""Minimum difference in milliseconds that is reported to the operator."""


class PeerClock:
    """Offset of one implementation's clock from the Host's clock."""

    def __init__(self) -> None:
        self._offset: int | None = None

    def compare(self, told: int, now: int, certainly: bool = True) -> None:
        """Records the time of the implementation's clock at the time `now` of the Host's clock. The last comparison
        counts.

        A timestamp that may be old (`certainly` is false) is used only if it agrees with the Host's clock.
        """
        if certainly or abs(told - now) < MIN_REPORTED_SKEW_MILLISECONDS:
            self._offset = told - now

    def to_host_time(self, told: int, arrived: int) -> int:
        """Converts a timestamp to the Host's clock; 0 if the offset is not known.

        The result is never later than the arrival, whatever the timestamp says.
        """
        if self._offset is None or not told:
            return 0
        return max(0, min(told - self._offset, arrived))

    def timestamp_problem(self, told: int, arrived: int) -> str:
        """Returns a description if a message's timestamp is far from its arrival, else an empty string."""
        late = arrived - (told - (self._offset or 0))
        if not told or abs(late) < MIN_REPORTED_SKEW_MILLISECONDS:
            return ""
        minutes = round(abs(late) / 60_000)
        when = f"{minutes} minutes before it came" if late > 0 else f"{minutes} minutes from now"
        return (
            f"a message says that it was written {when}; if that is not so, set the OneBot implementation's clock right"
        )

    @property
    def skew_problem(self) -> str:
        """Description of the clock difference; empty while the clocks are about equal."""
        if self._offset is None or abs(self._offset) < MIN_REPORTED_SKEW_MILLISECONDS:
            return ""
        minutes, way = round(abs(self._offset) / 60_000), "ahead of" if self._offset > 0 else "behind"
        return f"the OneBot implementation's clock is {minutes} minutes {way} the Host's; set one of them right"
