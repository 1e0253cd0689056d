"""The colours of every page and picture."""

# Text and axes.
INK = "#1f2933"
PALE = "#8a94a3"
LABEL = "#5a6573"
GRID = "#e8ecf0"

# The choice of the rule that decides, and the choices of others; each with a background.
CHOICE = "#0b6fa4"
BAND = "#dcecf5"
OTHER = "#c2571a"
PALE_OTHER = "#fbe9dd"

# Lines in a chart, in this order.
SERIES = (
    "#0b5a8a",
    "#d1611a",
    "#1f2933",
    "#35b892",
    "#b0559f",
    "#c79a00",
    "#6db3e0",
    "#7d8794",
)

# The colours of pages by the name of their CSS variable.
LIGHT = {
    "ink": INK,
    "pale": "#55606e",
    "line": "#d5dbe3",
    "edge": "#6f7a86",
    "soft": PALE,
    "grid": "#eef1f4",
    "back": "#ffffff",
    "card": "#f6f8fa",
    "mark": CHOICE,
    "on": "#ffffff",
    "other": "#b34a0f",
    "band": BAND,
    "wrong": "#a4161a",
    "warn": "#8a3b00",
    "new": "#fff0c2",
}
DARK = {
    "ink": "#e6eaef",
    "pale": "#a7b1bd",
    "line": "#3a4450",
    "edge": "#87939f",
    "soft": "#7d8896",
    "grid": "#242b33",
    "back": "#14181d",
    "card": "#1d232a",
    "mark": "#58b4e5",
    "on": "#0b0f13",
    "other": "#f0955a",
    "band": "#1c3544",
    "wrong": "#ff8f8f",
    "warn": "#ffb37a",
    "new": "#4d4013",
}
