"""The interlace exchange (Lace-040 and Lace-050)."""
