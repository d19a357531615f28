"""Opens the MCP server of a run for a program that the plugin has started."""

from parlour_sdk.protocol.gateway import GatewayAccess, GatewayOpen

from .calls import Namespace


class GatewayAPI(Namespace):
    async def open(self, token: str | None = None) -> GatewayAccess:
        """Returns address and token. A program that is kept for several runs keeps its token: give it again."""
        return await self._calls.call("gateway_open", GatewayOpen, GatewayAccess, token=token)

    async def open_for_service(self, writes: bool = False) -> GatewayAccess:
        """Returns address and token for a service elsewhere, which passes the token as an argument of each tool.

        The token ends with the run. `writes` allows tools that change something, too.
        """
        return await self._calls.call("gateway_open", GatewayOpen, GatewayAccess, service=True, writes=writes)
