"""Floor 3: command line and terminal app; the only place that knows argv, terminal and environment."""

__version__ = "0.1.0"
