"""Repository of MCP servers."""

from parlour.core.journal import Journal
from parlour.core.model.ids import McpServerId
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.ports import Clock
from parlour.core.store.tables import MCP_SERVERS

from .cached_repository import CachedRepository, RowMapping, UnitNames

MCP_SERVER_ROWS = RowMapping[McpServerId, McpServer](
    MCP_SERVERS,
    UnitNames(add="mcp_server.add", replace="mcp_server.replace", remove="mcp_server.remove"),
    item_id=lambda server: server.server_id,
    encode=lambda server: {"name": server.name, "definition": server.encode()},
    decode=lambda row: McpServer.decode(row["definition"]),
)


class McpServerRepository(CachedRepository[McpServerId, McpServer]):
    """All MCP servers. Their names are unique."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        super().__init__(journal, clock, MCP_SERVER_ROWS)

    def get_by_name(self, name: str) -> McpServer | None:
        return next((server for server in self._items.values() if server.name == name), None)
