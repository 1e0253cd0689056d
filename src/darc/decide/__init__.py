"""Given a rule object: decide, search lazily, explain, certify."""
