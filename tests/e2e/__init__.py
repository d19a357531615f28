"""Provides the Host, model service and platform for the browser tests, which are in TypeScript."""
