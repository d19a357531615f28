"""Facts about the Host itself."""

from parlour_sdk.protocol.run_api import HostVersion

from .calls import RunCalls


class HostAPI:
    def __init__(self, calls: RunCalls) -> None:
        self._calls = calls

    async def version(self) -> HostVersion:
        return await self._calls.call("get_host_version", HostVersion)
