"""Whole stories through the command line: several people, several homes, one stick."""
