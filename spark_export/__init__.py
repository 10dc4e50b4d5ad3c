"""Floor 2, beside lazy: a vault's history as tables. Knows the vault only."""
