"""Feishu and Lark: long connection and event callbacks, cards that stream, and the open platform's API."""
