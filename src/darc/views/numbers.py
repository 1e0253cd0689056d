"""Numbers as people read them."""


def number_text(number: float, span: float = 1.0) -> str:
    """Write a number with as many digits as a reader needs.

    Args:
        number: The number.
        span: The length of the axis or scale on which it lies.

    Returns:
        The number as text, such as "6.4".
    """
    size = abs(number)
    negligible_on_axis = size < 0.1 <= span / 10
    if negligible_on_axis or 0.1 <= size < 1:
        return f"{number:.2f}"
    if 1 <= size < 1e6:
        return f"{number:.1f}"
    return f"{number:.3g}"
