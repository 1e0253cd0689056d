"""What every request passes through, one concern per module; `stack.protect` puts it together."""
