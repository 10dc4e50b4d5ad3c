"""What a plan says is what the doing does then: `python -m tests.plans` asks every command in every state (APP-12)."""
