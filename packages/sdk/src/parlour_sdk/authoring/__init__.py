"""Programs that the author's CLI commands run inside a plugin's own environment, which has only the SDK installed."""
