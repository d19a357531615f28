"""Action for information about the Host: its version."""

from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.host import HostVersion, HostVersionGet

from .handlers import Handler


class HostInfoActions:
    def __init__(self, version: str) -> None:
        self._version = version

    def handlers(self) -> dict[str, Handler]:
        return {"get_host_version": self.version}

    async def version(self, caller: ActionCaller, request: HostVersionGet) -> HostVersion:
        return HostVersion(version=self._version, protocol=PROTOCOL_VERSION)
