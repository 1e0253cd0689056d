"""What all web services here share: protection of requests, connections, logs, start and stop."""
