// What has to be read again when a plugin was changed: it brings runners and tools.
export const PLUGIN_KEYS = ["plugins", "runners", "tools"];
