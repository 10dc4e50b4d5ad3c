"""The audit trail: its entries, their chain, and what is told of them."""
