"""Answers with DeerFlow and other LangGraph servers."""
