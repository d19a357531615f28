"""Runs one exchange with a service: files, request, stream, time limits, the retry of a lost session, and the stop."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from parlour_sdk import results
from parlour_sdk.protocol.limits import ARTIFACT_CONTENT_BYTES
from parlour_sdk.results import Result

from .client import ServiceResponse, error_text, read_error
from .errors import ServiceFailure, bounded, failure_for_status
from .input_files import MAX_FILE_BYTES
from .reader import EventReader
from .reply_writer import ReplyWriter
from .splitters import ServerEvent
from .turn import ServiceTurn
from .updates import AnswerFile, TaskNamed, Update

if TYPE_CHECKING:
    from .runner import HttpAgentRunner

logger = logging.getLogger("parlour.http_agent")

AFTER_ANSWER_SECONDS = 5.0
"""Seconds for the calls after an answer."""
STOP_TIMEOUT_SECONDS = 4.0
"""Seconds for the stop call; less than the Host waits for a cancelled run."""


class StreamTimer:
    """Computes the deadline of each read: of the run, of the first event, and of the next bytes.

    It starts with the request, so that a slow response leaves less time for the first event.
    """

    def __init__(self, first_event: float, idle: float, seconds_left: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle = idle
        self._end = self._loop.time() + seconds_left
        self._first = self._loop.time() + first_event
        self._has_event = False

    def next_deadline(self) -> float:
        idle = self._loop.time() + self._idle
        return min(idle, self._end) if self._has_event else min(idle, self._end, self._first)

    def on_event(self) -> None:
        self._has_event = True

    def failure(self) -> ServiceFailure:
        if self._loop.time() >= self._end:
            return ServiceFailure("deadline")
        return ServiceFailure("timeout", "the stream stalled" if self._has_event else "no event arrived")


class ServiceExchange:
    """Answers one message. `runner` has the parts that depend on the service."""

    def __init__(self, runner: "HttpAgentRunner[Any]", turn: ServiceTurn[Any]) -> None:
        self._runner = runner
        self._turn = turn
        self._writer = ReplyWriter(turn.session)
        self._unknown_events = 0
        self._known_files: set[str] = set()

    @property
    def is_shown(self) -> bool:
        return self._writer.is_shown

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields the results of the run. Raises ServiceFailure after those that were possible."""
        try:
            async with aclosing(self._with_retry()) as stream:
                async for result in stream:
                    yield result
            for result in self._writer.finish():
                yield result
        except ServiceFailure:
            for result in self._writer.break_off():
                yield result
            raise
        finally:
            if self._unknown_events:
                logger.info("%s sent %d events of unknown types", self._runner.service, self._unknown_events)

    async def _with_retry(self) -> AsyncGenerator[Result, None]:
        had_session = self._turn.conversation_id is not None
        try:
            async with aclosing(self._attempt()) as stream:
                async for result in stream:
                    yield result
            return
        except ServiceFailure as failure:
            if failure.reason != "session_unknown" or not had_session or self.is_shown:
                raise
        for result in self._turn.session.forget():
            yield result
        async with aclosing(self._attempt()) as stream:
            async for result in stream:
                yield result

    async def _attempt(self) -> AsyncGenerator[Result, None]:
        runner, turn = self._runner, self._turn
        turn.task_id, turn.notes = None, {}
        turn.uploads = [await runner.upload_file(turn, file) for file in turn.files] if runner.uploads_files else []
        request = await runner.build_request(turn)
        config = turn.config
        timer = StreamTimer(config.first_event_timeout, config.idle_timeout, turn.client.seconds_left())
        async with turn.client.open(request, turn.config.first_event_timeout) as response:
            if response.status >= 300:
                raise await self._status_failure(response)
            is_done = False
            try:
                await runner.after_open(turn)
                for result in turn.session.accepted():
                    yield result
                for result in turn.session.name(turn.own_session_id) if runner.names_sessions else ():
                    yield result
                async with aclosing(self._read(response, timer)) as stream:
                    async for result in stream:
                        yield result
                is_done = True
            finally:
                if not is_done:
                    await self._stop()
        async for result in self._write(await self._after_answer()):
            yield result

    async def _after_answer(self) -> Iterable[Update]:
        try:
            async with asyncio.timeout(AFTER_ANSWER_SECONDS):
                return await self._runner.after_answer(self._turn)
        except (ServiceFailure, TimeoutError) as failure:
            logger.warning("%s: a call after the answer failed: %s", self._runner.service, type(failure).__name__)
            return ()

    async def _status_failure(self, response: ServiceResponse) -> ServiceFailure:
        body = await read_error(response)
        own = self._runner.explain_error(self._turn, response.status, body)
        if own is not None:
            return own
        return failure_for_status(response.status, error_text(body), response.headers.get("Retry-After"))

    async def _read(self, response: ServiceResponse, timer: StreamTimer) -> AsyncGenerator[Result, None]:
        reader = self._runner.new_reader(self._turn)
        self._turn.content_type = response.content_type
        if not self._runner.is_stream(response.content_type):
            body = await response.read(
                MAX_FILE_BYTES, min(self._turn.config.idle_timeout, self._turn.client.seconds_left())
            )
            stream = self._write(self._runner.read_answer(self._turn, body))
        else:
            stream = self._read_stream(response, reader, timer)
        async with aclosing(stream):
            async for result in stream:
                yield result

    async def _read_stream(
        self, response: ServiceResponse, reader: EventReader, timer: StreamTimer
    ) -> AsyncGenerator[Result, None]:
        splitter = self._runner.new_splitter(self._turn)
        is_open = True
        while is_open and not self._writer.is_ended:
            try:
                block = await response.read_block(timer.next_deadline())
            except TimeoutError:
                raise timer.failure() from None
            is_open = bool(block)
            for event in splitter.feed(block) if is_open else splitter.finish():
                updates = self._updates(reader, event)
                if updates:
                    timer.on_event()
                async for result in self._write(updates):
                    yield result
        if not self._writer.is_ended:
            async for result in self._write(reader.finish()):
                yield result
        if not self._writer.is_ended:
            raise ServiceFailure("stream_ended")

    def _updates(self, reader: EventReader, event: ServerEvent) -> list[Update]:
        try:
            updates = reader.read(event)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            logger.warning("%s sent an event that its reader can't read", self._runner.service, exc_info=error)
            raise ServiceFailure("protocol", "an event has another form than expected") from error
        if updates is None:
            self._unknown_events += 1
            return []
        return list(updates)

    async def _write(self, updates: Iterable[Update]) -> AsyncGenerator[Result, None]:
        for update in updates:
            match update:
                case TaskNamed():
                    self._turn.task_id = update.task_id
                case AnswerFile() if self._is_known(update):
                    pass
                case AnswerFile():
                    file = await self._fetch(update)
                    for result in self._writer.attach(file) if file is not None else ():
                        yield result
                case _:
                    for result in self._writer.write(update):
                        yield result

    def _is_known(self, file: AnswerFile) -> bool:
        """Returns whether the file was part of the answer before, and remembers it."""
        key = file.id or file.url
        is_known = key is not None and key in self._known_files
        self._known_files |= {key} if key is not None else set()
        return is_known

    async def _fetch(self, file: AnswerFile) -> Result | None:
        """Returns the result for a file of the answer; None if it can't be fetched, which costs no text."""
        try:
            content = file.content
            if content is None:
                content = await self._turn.client.download(file.url or "", MAX_FILE_BYTES)
        except ServiceFailure as failure:
            detail = bounded(failure.detail)
            logger.warning("a file of %s is missing: %s %s", self._runner.service, failure.reason, detail)
            self._writer.add_missing_file(file.name)
            return None
        if len(content) <= ARTIFACT_CONTENT_BYTES:
            return results.artifact_created(file.kind, content, mime_type=file.mime_type, name=file.name)
        stored = await self._turn.api.artifacts.create(content, file.kind, mime_type=file.mime_type, name=file.name)
        return results.artifact_created(
            file.kind, artifact_id=stored.artifact_id, mime_type=stored.mime_type, name=file.name
        )

    async def _stop(self) -> None:
        """Asks the service to stop its work, whatever the reason for which the stream is left.

        The call is completed even if the run is cancelled in the middle of it, as at its deadline.
        """
        self._turn.client.ignore_deadline()
        stopping = asyncio.create_task(self._call_stop())
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await asyncio.wait({stopping})
            raise

    async def _call_stop(self) -> None:
        try:
            async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
                await self._runner.stop(self._turn)
        except (ServiceFailure, TimeoutError) as failure:
            logger.warning("%s could not be asked to stop: %s", self._runner.service, type(failure).__name__)
