"""Manages plugins, from their packages to their processes. It uses neither events nor the database.

`packages` reads the sources that plugins are installed from, `store` keeps the installed versions, `environments`
builds their Python environments, `process` starts their processes, and `supervision` keeps those running. `standalone`
runs all of this as a service of its own; `remote` is the Host's side of such a service.
"""
