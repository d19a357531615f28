"""Rigs prepare one runner for the rows of the contract. A plugin writes a small subclass."""

import re
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from parlour_sdk.protocol.manifest import AgentRunnerManifest

from ..components import load_component, pick
from ..host import FakeHost
from ..services.fake_service import FakeService, RecordedRequest
from ..services.faults import stall


class RunnerRig(ABC):
    """One runner with all that it needs, for one row: `async with rig`.

    Rows set the next answer with `answer` or `hold`, and then run `plugin` with `said` and `config()`.
    """

    plugin: ClassVar[Path | str]
    """The plugin's folder or file; it is loaded again for each run."""
    said: str = "hello"
    """The user's message."""

    @abstractmethod
    def answer(self, *pieces: str) -> None:
        """Makes the next runs answer with these pieces; none for an answer without text."""

    @abstractmethod
    def hold(self, piece: str) -> None:
        """Makes the next run answer with this piece and then work on until it is stopped."""

    def config(self) -> dict[str, Any]:
        """Returns the configuration of the agent."""
        return {}

    def host(self) -> FakeHost:
        """Returns a new Host."""
        return FakeHost()

    async def __aenter__(self) -> "RunnerRig":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    @cached_property
    def manifest(self) -> AgentRunnerManifest:
        """The runner's manifest."""
        loaded = load_component(self.plugin)
        return AgentRunnerManifest.model_validate(loaded.runner_manifests[pick(loaded.runners, None, "runner")])


class ServiceRig(RunnerRig):
    """A runner of a service, with a fake of the service. Paths are regular expressions of whole paths."""

    code: ClassVar[str]
    """The beginning of the runner's failure codes."""
    answer_path: ClassVar[str]
    """Path of the requests that are answered by a stream."""
    stop_path: ClassVar[str] = ""
    """Path of the stop call; empty if the service has none."""
    upload_path: ClassVar[str] = ""
    """Path of uploads; empty if files are part of the request."""
    address_setting: ClassVar[str] = "base_url"
    """The setting that holds the address."""
    key_setting: ClassVar[str] = "api_key"
    """The setting that holds the key."""
    names_sessions: ClassVar[bool] = False
    """Whether the first request carries a conversation id, since the runner or an earlier call has made it; otherwise
    the service names the conversation in its answer."""
    key: ClassVar[str] = "key-of-the-contract"
    """The key that the configuration has; it must appear nowhere."""
    times: ClassVar[dict[str, float]] = {"connect_timeout": 10, "first_event_timeout": 20, "idle_timeout": 20}
    """Time limits that a busy machine keeps; rows about time limits set their own."""

    def __init__(self) -> None:
        self.service = self.new_service()

    @abstractmethod
    def new_service(self) -> FakeService:
        """Returns the fake of the service."""

    @abstractmethod
    def session_of(self, request: RecordedRequest) -> str | None:
        """Returns the conversation id that a request carries."""

    @abstractmethod
    def forget_sessions(self) -> None:
        """Makes the service answer known conversation ids as it answers unknown ones."""

    @abstractmethod
    def offer_file(self, name: str, content: bytes) -> None:
        """Makes the next answer contain a file."""

    def config(self) -> dict[str, Any]:
        return {self.address_setting: self.service.url, self.key_setting: self.key, **self.times}

    def answer(self, *pieces: str) -> None:
        self.service.pieces = list(pieces)

    def hold(self, piece: str) -> None:
        self.service.pieces = [piece]
        self.service.fail(stall(after=piece))

    async def __aenter__(self) -> "ServiceRig":
        await self.service.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.service.__aexit__()

    def answered(self) -> list[RecordedRequest]:
        """Returns the requests for an answer."""
        return self._requests(self.answer_path)

    def stopped(self) -> list[RecordedRequest]:
        """Returns the stop calls."""
        return self._requests(self.stop_path)

    def received_files(self) -> list[bytes]:
        """Returns the contents of the files that the service received."""
        return [file.content for each in self._requests(self.upload_path) for file in each.files]

    def _requests(self, path: str) -> list[RecordedRequest]:
        return [each for each in self.service.requests if path and re.fullmatch(path, each.path)]
