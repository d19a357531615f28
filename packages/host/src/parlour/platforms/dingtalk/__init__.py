"""DingTalk bots in stream mode."""
