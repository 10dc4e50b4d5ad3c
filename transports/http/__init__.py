"""Places behind a web server (INT-122, CYB-16)."""
