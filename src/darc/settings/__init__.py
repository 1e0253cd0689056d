"""The settings tree: every option once, with its default, bounds and help text.

The command line, `run.toml`, the gateway's `darc` object, OpenAPI and the keywords of `Engine` are
made from these models. Each module holds the options of one subject or of one command.
"""
