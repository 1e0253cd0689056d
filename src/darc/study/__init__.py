"""The human study: blind ratings from several annotators, their quality watched, all in one database."""
