"""Answers with agents of the LiteLLM Agent Platform."""
