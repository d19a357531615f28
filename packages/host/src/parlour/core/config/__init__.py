"""Repositories of the configuration: agents, bots, routes, models, budgets, schedules, webhooks and MCP servers."""
