"""WeCom customer service, whose messages are fetched after a call."""
