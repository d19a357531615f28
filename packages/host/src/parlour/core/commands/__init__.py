"""Commands of plugins, typed in a chat."""
