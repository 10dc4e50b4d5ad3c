"""Content that rests here: counted, kept, let go, packed for others."""
