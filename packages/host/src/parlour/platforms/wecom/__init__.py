"""WeCom applications, whose messages arrive as encrypted calls."""
