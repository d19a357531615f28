"""Answers with WeKnora."""
