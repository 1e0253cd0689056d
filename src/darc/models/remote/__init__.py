"""Models behind HTTP: one client for everything that talks to a server."""
