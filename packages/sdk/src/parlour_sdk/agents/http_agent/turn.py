"""The data of one answer, as the methods of a service's runner receive it."""

import secrets
from functools import cached_property
from typing import Any, Generic

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.context import AgentRunContext

from .client import ServiceClient
from .config import ConfigT
from .input_files import InputFile, input_files
from .session import ExternalSession

TOKEN_NOTE = "(The run_token for the tools of Parlour is {token} for this message.)"


class ServiceTurn(Generic[ConfigT]):
    """One user message and its answer."""

    def __init__(
        self, ctx: AgentRunContext, api: AgentRunAPI, config: ConfigT, client: ServiceClient, run_token: str = ""
    ) -> None:
        self.ctx = ctx
        self.api = api
        self.config = config
        self.client = client
        self.run_token = run_token
        """Token with which the service uses the Host's tools; empty if it may not."""
        self.session = ExternalSession(ctx, config.binding)
        self.text = ctx.input.text if ctx.input.text is not None else plain_text(ctx.input.contents)
        self.files: list[InputFile] = input_files(ctx.input)
        self.uploads: list[Any] = []
        """The service's references of the uploaded files, in the order of `files`."""
        self.task_id: str | None = None
        """The service's id of the answer that is being streamed."""
        self.notes: dict[str, Any] = {}
        """What the runner and its reader note for each other during one attempt, such as an id of the message."""
        self.content_type = ""
        """The content type of the response, in lower case."""

    @property
    def text_with_token(self) -> str:
        """The message after the token for the Host's tools, for a service that has no other place for it."""
        return f"{TOKEN_NOTE.format(token=self.run_token)}\n\n{self.text}" if self.run_token else self.text

    @property
    def conversation_id(self) -> str | None:
        """The service's id of the conversation; None for a new one."""
        return self.session.conversation_id

    @cached_property
    def own_session_id(self) -> str:
        """The id of the conversation at a service that takes any id: the one in state, or a new random one."""
        return self.conversation_id or f"s-{secrets.token_hex(16)}"

    @property
    def user(self) -> str:
        """An opaque, stable id of the user, or of the group."""
        return self.session.user

    @property
    def pending(self) -> dict[str, Any]:
        """Values that a Question of the previous run stored; empty if the message answers no question."""
        return self.session.pending
