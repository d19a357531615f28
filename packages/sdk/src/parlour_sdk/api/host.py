"""Returns facts about the Host itself."""

from parlour_sdk.protocol.host import HostVersion, HostVersionGet

from .calls import Namespace


class HostAPI(Namespace):
    async def version(self) -> HostVersion:
        return await self._calls.call("get_host_version", HostVersionGet, HostVersion)
