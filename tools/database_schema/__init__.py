"""Writes `stores/migrations/schema.sql`: the database that the migrations make of nothing."""
