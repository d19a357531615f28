"""Repository of MCP servers. They are few, so they are cached in memory and written through."""

from parlour.core.journal import Delete, Insert, Journal, Select, Statement, Unit, Update, where
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.ports import Clock
from parlour.core.store.tables import MCP_SERVERS


class McpServerRepository:
    """All MCP servers. A caller that changes one passes further statements for the same unit: the audit entry."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._servers: dict[str, McpServer] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(MCP_SERVERS, order=("server_id",)))
        self._servers = {row["server_id"]: McpServer.decode(row["definition"]) for row in rows}

    def get(self, server_id: str) -> McpServer | None:
        return self._servers.get(server_id)

    def get_by_name(self, name: str) -> McpServer | None:
        return next((server for server in self._servers.values() if server.name == name), None)

    def all(self) -> list[McpServer]:
        """Returns all servers in the order of their creation."""
        return [self._servers[server_id] for server_id in sorted(self._servers)]

    async def add(self, server: McpServer, *also: Statement) -> None:
        now = self._clock.now()
        row: dict[str, str | int] = {"server_id": server.server_id, "name": server.name, "definition": server.encode()}
        insert = Insert(MCP_SERVERS, {**row, "created_at": now, "updated_at": now})
        await self._journal.commit(Unit("mcp_server.add", (insert, *also)))
        self._servers[server.server_id] = server

    async def replace(self, server: McpServer, *also: Statement) -> None:
        values: dict[str, str | int] = {"name": server.name, "definition": server.encode()}
        change = Update(MCP_SERVERS, {**values, "updated_at": self._clock.now()}, where(server_id=server.server_id))
        await self._journal.commit(Unit("mcp_server.replace", (change, *also)))
        self._servers[server.server_id] = server

    async def remove(self, server_id: str, *also: Statement) -> None:
        await self._journal.commit(Unit("mcp_server.remove", (Delete(MCP_SERVERS, where(server_id=server_id)), *also)))
        self._servers.pop(server_id, None)
