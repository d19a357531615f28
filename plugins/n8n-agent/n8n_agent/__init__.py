"""Answers with workflows of n8n."""
