"""Options: one declaration for the command line, files, requests and Python."""
