"""Endpoints that platforms call or connect to, by HTTP and WebSocket, below one address per bot.

The adapter of the bot authenticates them.
"""
