"""Defines the tables of pipelines, word lists and MCP servers."""

from parlour.core.journal import Table

from .columns import columns

PIPELINES = Table("pipelines", columns("pipeline_id definition", "created_at updated_at"), key=("pipeline_id",))
"""Bundles of an agent, a message policy and extensions, which routes share."""

PLUGIN_CONFIGS = Table("plugin_configs", columns("plugin_id definition", "created_at updated_at"), key=("plugin_id",))
"""Values of plugins' own forms, with sealed secrets. They are deleted with the data of the plugin."""

WORD_LISTS = Table("word_lists", columns("list_id definition", "created_at updated_at"), key=("list_id",))
"""Lists of words and expressions that filters of message policies use."""

MCP_SERVERS = Table(
    "mcp_servers",
    columns("server_id name definition", "created_at updated_at"),
    key=("server_id",),
    unique=(("name",),),
)
"""Configured MCP servers; secrets of a definition are sealed."""
