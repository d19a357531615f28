// The queries that a change of a plugin makes stale: it provides runners and tools.
export const PLUGIN_KEYS = ["plugins", "runners", "tools"];
