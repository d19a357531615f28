"""The HTTP interface of background jobs."""
