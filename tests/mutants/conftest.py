"""The planted bugs are a programme of their own: pytest leaves it alone."""

collect_ignore_glob = ["*"]
