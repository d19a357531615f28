"""Knowledge bases: files that are cut into passages, embedded, and searched for answers."""
