"""The tables of an evaluation, a file each: studies and sources in, tidy frames out."""
