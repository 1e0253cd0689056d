"""The human study: blind ratings of several annotators, their quality watched, in one database."""
