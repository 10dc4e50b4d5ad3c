"""One suite that every road passes: the same scenarios, the same final sets, the same results (APP-6, CYB-15)."""
