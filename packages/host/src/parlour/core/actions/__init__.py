"""Actions that plugins call: the gate that checks every call, and one handler per action."""
