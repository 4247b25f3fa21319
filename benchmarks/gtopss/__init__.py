"""The figures of the G-ToPSS paper: memory and time against number, overlap, size and match ratio (G8)."""
