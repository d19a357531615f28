"""An implementation's clock beside the Host's, as its lifecycle and heartbeat events tell it. In milliseconds."""

SKEW_MILLISECONDS = 120_000
"""From here on a person is told."""


class PeerClock:
    def __init__(self) -> None:
        self._ahead: int | None = None

    def compare(self, told: int, now: int, certainly: bool = True) -> None:
        """`told` is what the implementation's clock shows while the Host's shows `now`. The last comparison counts.

        What does not certainly come from that moment counts only where it agrees.
        """
        if certainly or abs(told - now) < SKEW_MILLISECONDS:
            self._ahead = told - now

    def here(self, told: int, arrived: int) -> int:
        """When something happened by the Host's clock; 0 where that is not known.

        It never happened after it arrived, whatever moment was told.
        """
        if self._ahead is None or not told:
            return 0
        return max(0, min(told - self._ahead, arrived))

    def oddity(self, told: int, arrived: int) -> str:
        """Of a message's own moment: empty where it was written about when it came."""
        late = arrived - (told - (self._ahead or 0))
        if not told or abs(late) < SKEW_MILLISECONDS:
            return ""
        minutes = round(abs(late) / 60_000)
        when = f"{minutes} minutes before it came" if late > 0 else f"{minutes} minutes from now"
        return (
            f"a message says that it was written {when}; if that is not so, set the OneBot implementation's clock right"
        )

    @property
    def trouble(self) -> str:
        """Empty while the two are about the same."""
        if self._ahead is None or abs(self._ahead) < SKEW_MILLISECONDS:
            return ""
        minutes, way = round(abs(self._ahead) / 60_000), "ahead of" if self._ahead > 0 else "behind"
        return f"the OneBot implementation's clock is {minutes} minutes {way} the Host's; set one of them right"
