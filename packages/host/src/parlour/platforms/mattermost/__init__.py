"""Mattermost: bot accounts over the WebSocket and the REST API."""
