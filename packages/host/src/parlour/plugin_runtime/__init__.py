"""Plugins, from the package they come in to the process they run in. Knows no events and no database.

`packages` reads what is installed from, `installed` keeps what is there, `environments` builds what it needs,
`process` starts it, `supervision` keeps it running; `standalone` is all that as a service, `remote` a Host's end of it.
"""
