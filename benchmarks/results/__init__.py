"""The page of results: `darc` commands on people's ratings and on a pool of the embedded model."""
