"""The arrays that everything is typed with, and the numbers that rules take."""

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]

# A rule's parameters are declared with their bounds, which services and pages offer them by.
Number = Annotated[float, Gt(-1e12), Lt(1e12)]
Level = Annotated[float, Ge(0), Lt(1e12)]
Positive = Annotated[float, Gt(0), Lt(1e6)]
Share = Annotated[float, Ge(0), Le(1)]
Tail = Annotated[float, Gt(0), Le(1)]
Inside = Annotated[float, Gt(0), Lt(1)]
Reward = Literal["mean", "original"]
