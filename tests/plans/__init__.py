"""What a plan says is what the doing does then: every command with a dry run, in every state of a vault."""
