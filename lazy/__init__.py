"""Floor 2: what friends do together, when they are ready: members, vectors, queue, conflicts, sync."""
