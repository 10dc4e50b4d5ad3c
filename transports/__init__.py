"""Floor 1: how bytes travel between vaults. Knows the vault's records, never the friends."""
