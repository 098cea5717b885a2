"""The soak is a programme of its own: pytest leaves it alone."""

collect_ignore_glob = ["*"]
