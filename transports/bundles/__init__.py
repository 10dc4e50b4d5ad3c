"""Bundles: records in compressed frames, written in one pass and read from any position."""
