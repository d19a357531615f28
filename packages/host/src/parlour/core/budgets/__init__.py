"""Limits on what models may use: in tokens and money, for senders, conversations, agents and all together."""
