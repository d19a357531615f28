"""Telegram through the Bot API: long polling or a webhook, albums, topics, buttons and drafts."""
