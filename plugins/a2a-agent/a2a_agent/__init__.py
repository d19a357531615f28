"""Answers with agents that speak the Agent2Agent protocol."""
