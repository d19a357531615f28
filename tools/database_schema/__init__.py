"""Writes `stores/migrations/schema.sql`: the schema that the migrations create in an empty database."""
