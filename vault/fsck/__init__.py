"""Checking a vault from the ground up."""
