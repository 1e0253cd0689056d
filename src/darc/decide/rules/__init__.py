"""Every selection rule, by family; importing this package registers them by name."""

from darc.decide.rules import auto, for_groups, group, means, sampled, side, value, welfare

__all__ = ["auto", "for_groups", "group", "means", "sampled", "side", "value", "welfare"]
