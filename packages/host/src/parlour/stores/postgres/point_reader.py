"""Answers queries for a few rows by key: all that wait, on one read-only connection and in one round trip."""

import logging
from asyncio import Future
from typing import Any

from pydantic_core import from_json

from parlour.core.journal import Row, StorageFailed
from parlour.stores.address import redact_password
from parlour.stores.futures import resolve
from parlour.stores.sql import StatementPlan
from parlour_sdk.values import dataclass

from .batch_encoding import decode_rows
from .batcher import Batcher
from .connection import READ_SETTINGS, PostgresConnection, close, connect
from .errors import ERRORS, failure_from_state, is_connection_lost, storage_failure
from .functions import ANSWER_QUERIES_SQL, ServerFunctions, run_script
from .retry import RetryWindow

logger = logging.getLogger(__name__)

READ_SECONDS = 30.0


@dataclass(slots=True, eq=False)
class PendingQuery:
    """An encoded query and the future of its caller."""

    plan: StatementPlan
    number: int
    """Number of its step."""
    text: str
    future: Future[list[Row]]


class PointReader:
    """Opens its connection with the first query, and again after a loss."""

    def __init__(self, url: str, retry_seconds: float) -> None:
        self._url = url
        self._name = redact_password(url)
        self._retry_seconds = retry_seconds
        self._batches: Batcher[PendingQuery] = Batcher(self._answer_batch)
        self._connection: PostgresConnection | None = None
        self._functions: ServerFunctions

    def start(self) -> None:
        self._batches.start()

    def submit(self, question: PendingQuery) -> None:
        self._batches.submit(question)

    async def finish(self) -> None:
        """Waits until all queries are answered. Nothing may be submitted afterwards."""
        try:
            await self._batches.finish()
            if self._connection is not None:
                await close(self._connection)
        finally:
            if self._connection is not None:
                self._connection.terminate()

    async def _answer_batch(self, batch: list[PendingQuery]) -> None:
        answers: list[Any] = [storage_failure(ConnectionError(), self._name)] * len(batch)
        try:
            answers = await self._execute(batch)
        except StorageFailed as failure:
            batch = [*batch, *self._batches.withdraw()]  # no query waits longer than the first one
            answers = [failure] * len(batch)
        except Exception as error:
            logger.exception("the journal's reader failed at %s", [question.plan.text for question in batch])
            answers = [storage_failure(error, self._name)] * len(batch)
        finally:  # even if it is cancelled
            for question, answer in zip(batch, answers, strict=True):
                resolve(question.future, self._to_result(question, answer))

    def _to_result(self, question: PendingQuery, answer: Any) -> list[Row] | Exception:
        if isinstance(answer, list):
            return decode_rows(question.plan, answer)
        if isinstance(answer, StorageFailed):
            return StorageFailed(answer.code, answer.message)
        return failure_from_state(answer["code"], answer["message"], self._name)

    async def _execute(self, batch: list[PendingQuery]) -> list[Any]:
        """Repeats the queries if the connection is lost; they change nothing."""
        plans = {question.number: question.plan for question in batch}
        queries = f"[{','.join(question.text for question in batch)}]"
        window = RetryWindow(self._retry_seconds)
        while True:
            try:
                connection = await self._ensure_connection()
                await self._functions.ensure(plans, READ_SECONDS)
                answer = await connection.fetchval("SELECT pg_temp.answer($1)", queries, timeout=READ_SECONDS)
                return list(from_json(answer))
            except ERRORS as error:
                if is_connection_lost(error) and self._connection is not None:
                    self._connection.terminate()
                failure = storage_failure(error, self._name)
            except StorageFailed as error:
                failure = error
            if failure.code != "storage_unreachable" or window.is_expired():
                raise failure
            await window.pause()

    async def _ensure_connection(self) -> PostgresConnection:
        if self._connection is None or self._connection.is_closed():
            settings = {**READ_SETTINGS, "plan_cache_mode": "force_generic_plan"}
            connection = await connect(self._url, "parlour near reader", self._retry_seconds, **settings)
            try:
                await run_script(connection, ANSWER_QUERIES_SQL, READ_SECONDS)
            except BaseException:
                connection.terminate()
                raise
            self._connection, self._functions = connection, ServerFunctions(connection)
        return self._connection
