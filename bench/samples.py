"""Timings and their statistics, independent of what was timed."""

from dataclasses import dataclass, field


def percentile(values: list[float], percent: float) -> float:
    """Returns the percentile by nearest rank; the values need not be sorted."""
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(slots=True)
class Samples:
    """Seconds, collected over several rounds."""

    rounds: list[list[float]] = field(default_factory=list)

    def add(self, values: list[float]) -> None:
        self.rounds.append(values)

    @property
    def all(self) -> list[float]:
        return [value for values in self.rounds for value in values]

    def ms(self, percent: float) -> float:
        return 1000 * percentile(self.all, percent)

    def ms_by_round(self, percent: float) -> list[float]:
        return [1000 * percentile(values, percent) for values in self.rounds]


def ratios(above: list[float], below: list[float]) -> tuple[float, float]:
    """Returns the lowest and the highest ratio of two series from identical rounds."""
    each = [one / other for one, other in zip(above, below, strict=True)]
    return min(each), max(each)
