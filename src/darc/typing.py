"""Types of arrays, and of the numbers that rules take as parameters."""

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]

# The parameters of rules are declared with these types. Their bounds are checked when a rule is
# given its parameters, and services and pages show them.
Number = Annotated[float, Gt(-1e12), Lt(1e12)]
Level = Annotated[float, Ge(0), Lt(1e12)]
Positive = Annotated[float, Gt(0), Lt(1e6)]
Share = Annotated[float, Ge(0), Le(1)]
Tail = Annotated[float, Gt(0), Le(1)]
Inside = Annotated[float, Gt(0), Lt(1)]
Reward = Literal["mean", "original"]
