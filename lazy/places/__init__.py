"""Places: what is remembered of each, and the roads that open one."""
