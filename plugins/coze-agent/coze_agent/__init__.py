"""Answers with bots of Coze."""
