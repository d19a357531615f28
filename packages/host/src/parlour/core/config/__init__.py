"""Repositories of what operators configure: agents, bots, routes, models, budgets, schedules, webhooks, MCP servers."""
