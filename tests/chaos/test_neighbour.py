"""Tests that runs of a neighbour plugin stay fast whatever the chaotic plugin does, and that the Host stays small."""

from collections.abc import Iterator

import pytest

from .chaos import Chaos
from .expectations import ANSWERED, ENDED
from .neighbour import Neighbour, neighbour_in

pytestmark = [pytest.mark.quiet, pytest.mark.long]

ATTEMPTS = 3
ROUNDS = 3
SECONDS = 1.0
BEHAVIOURS = [each.behaviour for each in (*ENDED, *ANSWERED)] + ["ignore_cancel"]


@pytest.fixture(scope="session")
def neighbour(chaos: Chaos) -> Iterator[Neighbour]:
    with neighbour_in(chaos.host) as neighbour:
        yield neighbour


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_runs_of_another_plugin_stay_fast(chaos: Chaos, neighbour: Neighbour, measuring: None, behaviour: str) -> None:
    def disturb() -> None:
        chaos.run(behaviour)
        chaos.check_recovery()

    for attempt in range(ATTEMPTS):
        figures = neighbour.measure(disturb, ROUNDS, SECONDS)
        print(f"{behaviour} {attempt}: {figures}")  # noqa: T201 - printed when the test fails
        if not figures.problems():
            break

    assert figures.problems() == [], f"{figures}, the last of {ATTEMPTS} attempts"
    assert chaos.host.process.pid == chaos.pid
