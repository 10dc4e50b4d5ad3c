"""The store: records, facts and views in one SQLite file."""
