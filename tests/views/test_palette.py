from itertools import pairwise

from darc.views.palette import DARK, LIGHT, SERIES


def luminance(color: str) -> float:
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_first_colours_differ_in_grey_and_all_stand_out_from_white() -> None:
    greys = sorted(luminance(color) for color in SERIES[:4])
    assert min(b - a for a, b in pairwise(greys)) > 0.1
    assert max(luminance(color) for color in SERIES) < 0.7


def test_text_stands_out_in_light_and_in_dark() -> None:
    for colors in (LIGHT, DARK):
        for text in ("ink", "pale", "mark", "other", "wrong", "warn"):
            for back in ("back", "card"):
                high, low = sorted((relative(colors[text]), relative(colors[back])), reverse=True)
                assert (high + 0.05) / (low + 0.05) >= 4.5, (text, back)


def relative(color: str) -> float:
    """The relative luminance of the guidelines for accessible pages."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
