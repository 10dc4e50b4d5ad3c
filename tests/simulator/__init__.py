"""Interlace machines over real stores and bad media, from a seed.

`python -m tests.simulator --seeds 2000` builds for each seed some vaults and media with policies, limits and records of
their own, lets blocks be dropped, doubled, reordered, spoiled and cut, then lets the media be sound, and compares where
all vaults end with where they end undisturbed. The same seed gives the same trace.
"""
