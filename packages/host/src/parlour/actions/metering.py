"""Counts what a run asks of models and tools, and notes how each call went. Of what was said nothing is noted."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from parlour.core.access.caller import Caller
from parlour.core.access.refusal import Refused
from parlour.core.ports import Clock
from parlour.core.providers import ProviderFailed
from parlour.core.runs.meter import Kind, Meter
from parlour_sdk.protocol.usage import Usage


@dataclass(slots=True)
class Used:
    """What a call has used so far."""

    usage: Usage | None = None


@contextmanager
def metered(caller: Caller, clock: Clock, kind: Kind, name: str) -> Iterator[Used]:
    """Outside a run nobody counts yet."""
    meter = caller.session.meter if caller.session is not None else Meter()
    used, began, outcome = Used(), clock.now(), "abandoned"
    meter.began(kind)
    try:
        yield used
        outcome = "answered"
    except (ProviderFailed, Refused) as failure:
        outcome = failure.code
        raise
    finally:
        meter.ended(kind, name, outcome, clock.now() - began, used.usage)
