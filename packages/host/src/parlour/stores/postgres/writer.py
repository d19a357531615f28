"""Executes units, many in one transaction and one round trip, one transaction at a time.

Units that are submitted during a transaction form the next one. A unit that fails does not affect the others.

A lost connection is not an outcome. The next connection finds out whether the active batch happened: if so, its callers
get its results; if not, it is executed again. Units fail only if there is no next connection for a while.
"""

import logging
from asyncio import Future
from collections.abc import Sequence
from typing import Any

from parlour.core.journal import UNCERTAIN_CODE, GuardFailed, Receipt, StorageFailed
from parlour.stores.address import redact_password
from parlour.stores.futures import resolve
from parlour.stores.sql import StatementPlan
from parlour_sdk.values import dataclass

from .batch_encoding import decode_receipt
from .batcher import Batcher
from .errors import (
    ERRORS,
    READ_ONLY,
    RETRYABLE_STATES,
    failure_from_state,
    is_connection_lost,
    sqlstate,
    storage_failure,
)
from .retry import RetryWindow
from .session import REPLACED, WriterIdentity, WriterSession, open_session

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
OUTCOME_TIMEOUT_SECONDS = 300.0
"""Seconds that a batch with an unknown outcome waits for a connection that can find it out."""


@dataclass(slots=True, eq=False)
class PostgresWriteJob:
    """An encoded unit and the future of its caller."""

    name: str
    plans: list[StatementPlan]
    numbers: list[int]
    """Numbers of its steps."""
    text: str
    future: Future[Receipt]


class RetryBatch(Exception):
    """Raised when nothing of the batch happened and a retry may succeed."""

    def __init__(self, failure: StorageFailed, *, collided: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.collided = collided


class PostgresWriter:
    def __init__(self, url: str, identity: WriterIdentity, retry_seconds: float) -> None:
        self._url = url
        self._name = redact_password(url)
        self._identity = identity
        self._retry_seconds = retry_seconds
        self._batches: Batcher[PostgresWriteJob] = Batcher(self._execute)
        self._session: WriterSession
        self.transactions = 0

    async def open(self) -> None:
        self._session = await self._open_session(None)
        self._batches.start()

    def submit(self, job: PostgresWriteJob) -> None:
        self._batches.submit(job)

    async def finish(self) -> None:
        """Waits until all submitted units are done. Nothing may be submitted afterwards."""
        try:
            await self._batches.finish()
            await self._session.close()
        finally:
            self._fail_waiting(self._uncertain())
            self._session.connection.terminate()

    async def _execute(self, batch: list[PostgresWriteJob]) -> None:
        outcomes: Sequence[Any] = [self._uncertain()] * len(batch)
        try:
            outcomes = await self._outcomes(batch)
        except StorageFailed as failure:
            outcomes = [failure] * len(batch)
        except Exception as error:
            logger.exception("the journal's writer failed at units %s", [job.name for job in batch])
            outcomes = [storage_failure(error, self._name)] * len(batch)
        finally:  # even if it is cancelled
            for job, outcome in zip(batch, outcomes, strict=True):
                resolve(job.future, self._to_result(job, outcome))

    def _to_result(self, job: PostgresWriteJob, outcome: Any) -> Receipt | Exception:
        if isinstance(outcome, list):
            return decode_receipt(job.plans, outcome)
        if isinstance(outcome, StorageFailed):
            return StorageFailed(outcome.code, outcome.message)
        if "guard" in outcome:
            return GuardFailed(job.name, outcome["guard"])
        return failure_from_state(outcome["code"], outcome["message"], self._name)

    async def _outcomes(self, batch: list[PostgresWriteJob]) -> Sequence[Any]:
        """Returns an outcome per unit. Raises StorageFailed if nothing of the whole batch happened."""
        window = RetryWindow(self._retry_seconds)
        tries = 0
        while True:
            try:
                return await self._attempt(batch, window)
            except RetryBatch as retry:
                tries += 1
                if len(batch) > 1 and (retry.collided or tries == MAX_ATTEMPTS):
                    return await self._one_by_one(batch)  # alone they hold fewer locks and don't affect others
                if tries == MAX_ATTEMPTS:
                    raise retry.failure from retry
            await window.pause()

    async def _attempt(self, batch: list[PostgresWriteJob], window: RetryWindow) -> Sequence[Any]:
        plans = {number: plan for job in batch for number, plan in zip(job.numbers, job.plans, strict=True)}
        session = await self._ensure_session(window)
        try:
            outcomes = await session.execute_batch(plans, f"[{','.join(job.text for job in batch)}]")
        except ERRORS as error:
            outcomes = await self._handle_error(error, session)
        self.transactions += 1
        return outcomes

    async def _handle_error(self, error: Exception, session: WriterSession) -> list[Any]:
        """Returns the outcomes if the batch happened after all.

        Otherwise raises RetryBatch if nothing happened, or StorageFailed.
        """
        failure = storage_failure(error, self._name)
        if is_connection_lost(error) or sqlstate(error) == REPLACED:
            recovered = await self._recover_outcomes(session)
            if recovered is None:
                raise RetryBatch(failure)
            return recovered
        if sqlstate(error) in RETRYABLE_STATES:
            raise RetryBatch(failure, collided=True)
        if sqlstate(error) == READ_ONLY:  # the next connection may find the server that took over
            session.connection.terminate()
        raise failure

    async def _one_by_one(self, batch: list[PostgresWriteJob]) -> list[Any]:
        outcomes: list[Any] = []
        for job in batch:
            try:
                outcomes += await self._outcomes([job])
            except StorageFailed as failure:
                outcomes.append(failure)
        return outcomes

    async def _open_session(self, lost_session: WriterSession | None) -> WriterSession:
        return await open_session(self._url, self._identity, self._retry_seconds, lost_session)

    async def _ensure_session(self, window: RetryWindow) -> WriterSession:
        while self._session.connection.is_closed():
            try:
                self._session = await self._open_session(self._session)
                logger.info("reconnected to the database '%s'", self._name)
            except StorageFailed as failure:
                if window.is_expired():
                    self._fail_waiting(failure)
                    raise
                await window.pause()
        return self._session

    async def _recover_outcomes(self, lost_session: WriterSession) -> list[Any] | None:
        """Returns the outcomes of the batch that was active when the connection was lost; None if nothing happened."""
        lost_session.connection.terminate()
        logger.warning("the connection to '%s' was lost during a write", self._name)
        window, limit = RetryWindow(self._retry_seconds), RetryWindow(OUTCOME_TIMEOUT_SECONDS)
        while True:
            try:
                self._session = await self._open_session(lost_session)
                return await self._session.recover_outcomes(lost_session)
            except StorageFailed as error:
                failure = error
            except ERRORS as error:
                self._session.connection.terminate()
                failure = storage_failure(error, self._name)
            if limit.is_expired() or (self._batches.finishing and window.is_expired()):
                raise self._uncertain()
            if window.is_expired():
                self._fail_waiting(failure)
            await window.pause()

    def _uncertain(self) -> StorageFailed:
        return StorageFailed(
            UNCERTAIN_CODE,
            f"The connection to '{self._name}' was lost while something was written, and whether it was kept "
            "is not known until PostgreSQL answers again: start it, then start Parlour again.",
        )

    def _fail_waiting(self, failure: StorageFailed) -> None:
        """Fails all waiting units: none waits longer than the first one."""
        for job in self._batches.withdraw():
            resolve(job.future, StorageFailed(failure.code, failure.message))
