"""Checks the promises of a cluster after a schedule."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from parlour.core.cluster.tables import HOSTS, LEASES, OWNERS
from parlour.core.journal import Row, Select
from parlour.core.model.ids import PartId
from parlour.testing.simulation.promises import require

from .world import Shown


def check_messages(shown: Sequence[Shown], counts: Mapping[PartId, int]) -> None:
    """Every message is shown, a repetition is marked, and the messages of a part are in order."""
    seen: set[tuple[PartId, int]] = set()
    for each in shown:
        is_repeated = (each.part, each.number) in seen
        require(each.is_marked or not is_repeated, f"the repetition of message {each.number} of {each.part} is marked")
        seen.add((each.part, each.number))
    for part, count in counts.items():
        numbers = list(dict.fromkeys(each.number for each in shown if each.part == part))
        require(numbers == list(range(count)), f"the messages of {part} are shown in order: {numbers}")


def check_balance(read: Callable[[Select], list[Row]]) -> None:
    """Every part has a living owner, and no Host has more than its share."""
    living = {row["host_id"] for row in read(Select(LEASES))}
    owners = Counter(row["host_id"] for row in read(Select(OWNERS)))
    require(set(owners) <= living, f"each part has a living owner, not {set(owners) - living}")
    if living:
        share = -(-sum(owners.values()) // len(living))
        require(max(owners.values(), default=0) <= share, f"nobody owns more than {share} parts: {dict(owners)}")
    unfenced = {row["host_id"] for row in read(Select(HOSTS)) if not row["fenced_at"]}
    require(unfenced == living, "a Host has a lease until it is fenced")
