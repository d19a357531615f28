"""Plugin processes: launched, greeted, watched, restarted and stopped. Knows no events and no database."""
