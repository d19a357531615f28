"""Answers with apps of Dify."""
