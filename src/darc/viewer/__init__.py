"""`darc view` and `darc diff`: looking at many decisions."""
