"""Applies the message policy to an event at its turn: collects later messages with it, and admits all of them."""

from typing import TYPE_CHECKING

from parlour.core.model.agent import Binding
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

from .admission import Consultation, RunAdmission
from .gathering import Gathering, LimitSuspension
from .lane_result import LaneResult, Suspension
from .run_checks import RunObstacle
from .session import QueuedEvent

if TYPE_CHECKING:
    from parlour.core.message_policy.schema import MessagePolicy


@dataclass(frozen=True, slots=True)
class PolicyTurn:
    """The decision at the turn of a message: it waits, or is not answered, or its run may be opened."""

    suspension: Suspension | None = None
    obstacle: RunObstacle | None = None


class HookSuspension:
    """Suspends a message without a slot while plugins and models are asked about it."""

    def __init__(self, entry: QueuedEvent, binding: Binding, admission: RunAdmission) -> None:
        self._entry = entry
        self._binding = binding
        self._admission = admission
        self._answers = Consultation()

    async def wait_ready(self) -> None:
        self._answers = await self._admission.ask(self._entry, self._binding)

    async def finish(self) -> LaneResult:
        await self._admission.record(self._entry, self._binding, self._answers)
        return LaneResult([self._entry])


class PolicyTurns:
    """Decides at the turn of each message of an agent with a policy."""

    def __init__(self, admission: RunAdmission, gathering: Gathering, clock: Clock) -> None:
        self._admission = admission
        self._gathering = gathering
        self._clock = clock

    def policy(self, binding: Binding) -> "MessagePolicy | None":
        return self._admission.policy(binding)

    def consult(self, entry: QueuedEvent, binding: Binding) -> PolicyTurn | None:
        """Returns the decision of plugins about a message; None if an agent may answer it."""
        if self._admission.must_ask(entry, binding):
            return PolicyTurn(HookSuspension(entry, binding, self._admission))
        if entry.hooked is None or not entry.hooked.stopped_by:
            return None
        plugin_id = entry.hooked.stopped_by
        reason = f"plugin {plugin_id} answered it" if entry.hooked.has_replies else f"plugin {plugin_id} stopped it"
        return PolicyTurn(obstacle=RunObstacle("handled", reason, ""))

    async def admit(self, entry: QueuedEvent, binding: Binding, policy: "MessagePolicy") -> PolicyTurn:
        """Decides about the message, and takes those that are collected with it out of the lane."""
        rules, followers = policy.gather, list[QueuedEvent]()
        if rules.seconds:
            if self._admission.filter(entry, policy) is None:
                suspension = self._gathering.suspend(entry, binding, rules)
                if suspension is not None:
                    return PolicyTurn(suspension)
            followers = await self._acceptable(self._gathering.followers(entry, binding, rules), binding, policy)
        while True:
            admission = await self._admission.admit(entry, binding, policy, followers)
            if not followers or (admission.obstacle is None and not admission.wait_until):
                break
            followers.pop()  # fewer messages may fit
        if admission.wait_until:
            return PolicyTurn(LimitSuspension(entry, admission.wait_until, self._clock))
        if admission.obstacle is not None:
            return PolicyTurn(obstacle=admission.obstacle)
        entry.admission, entry.gathered = admission.statements, tuple(followers)
        if entry.queue is not None:
            for follower in followers:
                entry.queue.waiting.remove(follower)
        return PolicyTurn()

    def put_back(self, entry: QueuedEvent) -> None:
        """Returns the collected messages to the lane after their run could not be opened."""
        if entry.queue is not None:
            entry.queue.waiting[:0] = entry.gathered
        entry.gathered = ()

    async def _acceptable(
        self, followers: list[QueuedEvent], binding: Binding, policy: "MessagePolicy"
    ) -> list[QueuedEvent]:
        """Returns the messages up to the first that a plugin stops or a filter blocks, which gets a turn of its own."""
        accepted: list[QueuedEvent] = []
        for follower in followers:
            if not await self._admission.consult(follower, binding):
                break
            if self._admission.filter(follower, policy) is not None:
                break
            accepted.append(follower)
        return accepted
