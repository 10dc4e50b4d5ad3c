"""Lace-010 records: pure, strict, frozen."""
