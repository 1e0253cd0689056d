"""Words and what may stand for them: tables only, shared by the transforms and the filters."""
