"""A plugin's process: started plainly or in a sandbox, its log, its children, its end."""
