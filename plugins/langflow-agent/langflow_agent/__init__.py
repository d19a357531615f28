"""Answers with flows of Langflow."""
