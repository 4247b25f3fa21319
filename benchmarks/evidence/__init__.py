"""All figures of all papers on one page, each with what the paper says and what is seen here (M11, N9, G8, S6)."""
