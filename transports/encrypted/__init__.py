"""Mailboxes that only members read: keys, envelopes, and files in authenticated chunks."""
