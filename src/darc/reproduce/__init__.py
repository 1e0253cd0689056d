"""The paper's experiment by one command: a configuration in, its tables and figures out."""
