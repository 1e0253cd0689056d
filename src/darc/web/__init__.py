"""What every web service here shares: keys, limits, headers, logs, starting and stopping."""
