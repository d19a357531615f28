"""Defines HttpAgentRunner, the base class of runners for agent services that are reached over HTTP."""

import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any, ClassVar, Generic

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components.agent_runner import AgentRunner, ConnectionCheck
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

from .client import ServiceClient, ServiceRequest, error_text
from .config import ConfigT, read_config
from .errors import RETRYABLE, ServiceFailure
from .exchange import ServiceExchange
from .host_tools import with_run_token
from .input_files import InputFile
from .reader import EventReader
from .splitters import EventStreamSplitter, StreamSplitter
from .turn import ServiceTurn
from .updates import Update

logger = logging.getLogger("parlour.http_agent")


class HttpAgentRunner(AgentRunner, Generic[ConfigT]):
    """Answers with an agent service. A subclass builds the request and reads the events.

    The subclass sets `service`, `label` and `config_type`, and implements `build_request` and `new_reader`. The other
    methods have defaults. One instance serves all runs and keeps nothing between them.
    """

    service: ClassVar[str]
    """Short name of the service; codes of failures begin with it."""
    label: ClassVar[str]
    """Name of the service in sentences."""
    config_type: type[ConfigT]
    """Class of the configuration."""
    uploads_files: ClassVar[bool] = False
    """True if files of the user are passed to `upload_file` before the request."""
    names_sessions: ClassVar[bool] = False
    """Whether the runner makes the ids of conversations (`turn.own_session_id`), since the service takes any."""

    @abstractmethod
    async def build_request(self, turn: ServiceTurn[ConfigT]) -> ServiceRequest:
        """Returns the request that is answered by the stream."""

    @abstractmethod
    def new_reader(self, turn: ServiceTurn[ConfigT]) -> EventReader:
        """Returns the reader of one answer's events."""

    def new_splitter(self, turn: ServiceTurn[ConfigT]) -> StreamSplitter:
        """Returns the splitter of the stream; server-sent events by default."""
        return EventStreamSplitter()

    def headers(self, config: ConfigT) -> dict[str, str]:
        """Returns the headers of every request; by default the key as a bearer token."""
        key = config.api_key.get_secret_value()
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def upload_file(self, turn: ServiceTurn[ConfigT], file: InputFile) -> Any:
        """Uploads a file of the user and returns the service's reference, which `turn.uploads` then contains."""
        raise ServiceFailure("input", f"files such as {file.name} can't be sent to {self.label}")

    async def stop(self, turn: ServiceTurn[ConfigT]) -> None:
        """Asks the service to stop an answer that is no longer needed. By default closing the stream is all."""

    def explain_error(self, turn: ServiceTurn[ConfigT], status: int, body: bytes) -> ServiceFailure | None:
        """Returns the failure of an error response; None for the usual one of its status.

        By default a 404 on a request with a conversation id means that the service no longer knows the conversation.
        """
        if status == 404 and turn.conversation_id is not None:
            return ServiceFailure("session_unknown", error_text(body))
        return None

    def is_stream(self, content_type: str) -> bool:
        """Returns whether a response of this type is a stream; any other one is passed to `read_answer`."""
        return content_type != "application/json"

    def read_answer(self, turn: ServiceTurn[ConfigT], body: bytes) -> Iterable[Update]:
        """Returns the updates of an answer that is no stream; by default it is the error that the body describes."""
        detail = error_text(body)
        raise ServiceFailure("upstream" if detail else "protocol", detail or "the answer is no stream")

    async def after_open(self, turn: ServiceTurn[ConfigT]) -> None:
        """Makes the call that starts the answer, for a service whose stream has to be open before."""

    async def after_answer(self, turn: ServiceTurn[ConfigT]) -> Iterable[Update]:
        """Returns updates that need another call, such as suggested questions. A failure of it costs no answer."""
        return ()

    async def check_service(self, config: ConfigT, client: ServiceClient) -> str:
        """Makes the cheapest call that needs the credentials. Returns a sentence, or raises ServiceFailure."""
        await client.call(ServiceRequest("", method="GET"))
        return f"{self.label} answers."

    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        secrets: tuple[str, ...] = ()
        exchange: ServiceExchange | None = None
        try:
            config = read_config(self.config_type, ctx.config)
            secrets = config.secrets
            config, run_token = await with_run_token(config, api)
            secrets = (*secrets, run_token) if run_token else secrets
            async with ServiceClient(config, self.headers(config), ctx.runtime.deadline_at) as client:
                turn = ServiceTurn(ctx, api, config, client, run_token)
                if not turn.text.strip() and not turn.files:
                    yield results.silent()
                    return
                exchange = ServiceExchange(self, turn)
                async with aclosing(exchange.results()) as stream:
                    async for result in stream:
                        yield result
        except ServiceFailure as failure:
            is_shown = exchange is not None and exchange.is_shown
            sentence = failure.sentence(self.label, ctx.runtime.locale, secrets)
            logger.warning("run %s failed with %s: %s", ctx.run_id, failure.code(self.service), sentence)
            retryable = failure.reason in RETRYABLE and not is_shown
            yield results.failed(failure.code(self.service), sentence, retryable)

    async def test_connection(self, values: Mapping[str, Any], locale: str | None = None) -> ConnectionCheck:
        """Checks a configuration, as it comes from the form, against the service."""
        secrets: tuple[str, ...] = ()
        try:
            config = read_config(self.config_type, values)
            secrets = config.secrets
            async with ServiceClient(config, self.headers(config)) as client:
                return ConnectionCheck("", await self.check_service(config, client))
        except ServiceFailure as failure:
            return ConnectionCheck(failure.code(self.service), failure.sentence(self.label, locale, secrets))
