"""What all doors share: who may use them, turns, runs, and how a request is read and refused."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable

from starlette.requests import Request

from parlour.core.access import audit
from parlour.core.access.audit_writer import AuditWriter
from parlour.core.errors import CallRejected
from parlour.core.model.doors import Door
from parlour.core.model.ids import RunId
from parlour.core.model.ports import Clock
from parlour.core.runs.control import RunControl
from parlour.core.runs.session import RunTermination
from parlour_sdk.values import dataclass

from ..body_limit import body_too_large, declared_bytes
from ..errors import HANDLED_ERRORS, ErrorResponses, Problem
from ..localization import accepted_language
from ..principals import Principal
from .access import DoorAccess
from .failures import problem_of_error
from .streaming import UpdateStream
from .turns import DoorTurns, Turn, TurnRequest
from .updates import RunStarted, TurnUpdate

logger = logging.getLogger(__name__)

CANCELLED = RunTermination("cancelled", "cancelled", "a client cancelled the run")
ON_DISCONNECT_HEADER = "x-parlour-on-disconnect"
SESSION_HEADER = "x-parlour-session"
IDEMPOTENCY_HEADER = "idempotency-key"
MAX_HEADER_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class DoorOptions:
    """Settings that doors need, and the clock."""

    public_address: Callable[[Request], str]
    """Tells the address by which clients reach the Host, without a slash at its end."""
    body_bytes: int
    cancels_on_disconnect: bool
    clock: Clock


class DoorContext:
    """Everything that a door needs from the Host."""

    def __init__(
        self,
        access: DoorAccess,
        turns: DoorTurns,
        runs: RunControl,
        audit_log: AuditWriter,
        responses: ErrorResponses,
        options: DoorOptions,
    ) -> None:
        self.access = access
        self.turns = turns
        self.clock = options.clock
        self.public_address = options.public_address
        self._runs = runs
        self._audit_log = audit_log
        self._responses = responses
        self._body_bytes = options.body_bytes
        self._cancels_on_disconnect = options.cancels_on_disconnect
        self._cancelling: set[asyncio.Task[bool]] = set()

    async def read_body(self, request: Request) -> bytes:
        """Reads a body; raises Problem as soon as it is too large."""
        size, parts = declared_bytes(request.scope), []
        if size <= self._body_bytes:
            size = 0
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > self._body_bytes:
                    break
        if size > self._body_bytes:
            raise body_too_large(self._body_bytes)
        return b"".join(parts)

    def refuse(self, door: Door, error: Exception) -> Problem:
        """Counts a refused request and returns what is wrong with it. An unexpected error is logged."""
        problem = problem_of_error(error, self._responses)
        if not isinstance(error, HANDLED_ERRORS) and problem.status == 500:
            logger.error("a request to the door '%s' failed", door, exc_info=error)
        self.access.count(door, problem.code)
        return problem

    async def begin(self, request: TurnRequest) -> Turn:
        turn = await self.turns.begin(request)
        self.access.count(request.door, "repeated" if turn.duplicate else "accepted")
        return turn

    def stream(self, request: Request, turn: Turn) -> UpdateStream:
        """Follows a turn. If the client leaves, the run goes on, unless the setting or the request say otherwise."""
        wish = request.headers.get(ON_DISCONNECT_HEADER, "").lower()
        cancels = wish == "cancel" or (self._cancels_on_disconnect and wish != "continue")
        run_ids: list[RunId] = []

        async def noted() -> AsyncGenerator[TurnUpdate, None]:
            async for update in self.turns.follow(turn):
                if isinstance(update, RunStarted):
                    run_ids.append(update.run_id)
                yield update

        def abandon() -> None:
            if cancels and run_ids:
                self.cancel_soon(run_ids[-1])

        return UpdateStream(noted(), abandon)

    def cancel_soon(self, run_id: RunId) -> None:
        """Cancels a run in the background."""
        task = asyncio.create_task(self.cancel(run_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def cancel_turn(self, door: Door, turn: Turn, principal: Principal) -> None:
        """Cancels the run of a turn and returns when it is over. A turn that has ended stays as it is."""
        run_id = await self.turns.active_run_id(turn)
        if not run_id:
            if await self.turns.result_if_over(turn) is None:
                raise Problem(
                    409, "conflict", "this waits for an earlier message of its session; cancel that one first"
                )
            return
        entry = audit.door_entry(principal.owner, "run.cancel", run_id, door, self.clock.now(), run_id)
        self._audit_log.add([entry])
        await self.cancel(run_id)

    async def cancel(self, run_id: RunId) -> bool:
        """Cancels a run and returns when it is over; False if there was nothing to cancel."""
        try:
            return await self._runs.cancel(run_id, CANCELLED)
        except CallRejected as rejection:
            raise Problem(409, "conflict", rejection.message) from rejection


def header(request: Request, name: str) -> str:
    """Returns a header that names something; raises Problem if it is too long."""
    value = request.headers.get(name, "").strip()
    if len(value) > MAX_HEADER_CHARACTERS:
        raise Problem(400, "invalid_argument", f"the header {name} has more than {MAX_HEADER_CHARACTERS} characters")
    return value


def language_of(request: Request) -> str:
    """Returns the language of the client, for notices; empty if it names none."""
    return accepted_language(request.headers.raw) if "accept-language" in request.headers else ""
