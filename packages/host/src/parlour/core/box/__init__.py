"""The Box as the core sees it: profiles, an agent's box policy, and the sessions that a template makes."""
