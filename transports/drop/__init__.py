"""Mailboxes in a directory, such as one on a USB stick."""
