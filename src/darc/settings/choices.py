"""The values of options that the rules and the settings share; importing it loads nothing else."""

from typing import Literal

#: How several scorers are put on one scale.
Normalize = Literal["auto", "prompt", "fixed", "none"]
#: "exact" stops when the choice is certain, "likely" when it is very probably final.
SearchMode = Literal["exact", "likely"]

#: Which checks a rewrite must pass: those of the paper, or all of them.
Acceptance = Literal["paper", "strict"]

#: Which answers a request for several gets.
Slate = Literal["different", "best"]
