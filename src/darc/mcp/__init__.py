"""`darc mcp`: choosing, comparing and explaining as tools of the Model Context Protocol."""
