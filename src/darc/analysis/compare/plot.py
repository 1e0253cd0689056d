"""A leaderboard as a picture."""

from typing import TYPE_CHECKING

from darc.analysis.compare.leaderboard import Leaderboard
from darc.views.chart import new_figure, plain_drawing, style_axes
from darc.views.palette import SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEAN_COLOR = SERIES[0]
UNHAPPY_COLOR = SERIES[1]
INTERVAL_COLOR = "black"


def draw_leaderboard(leaderboard: Leaderboard) -> "Figure":
    """Draw means with their intervals beside shares of unhappy people, the best system on top.

    Args:
        leaderboard: What to draw.

    Returns:
        The figure.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    standings = list(reversed(leaderboard.standings))
    places = range(len(standings))
    with plain_drawing():
        figure = new_figure(9.0, 1.6 + 0.42 * len(standings))
        means, unhappy = figure.subplots(1, 2, sharey=True)
        for place, standing in enumerate(standings):
            inside = MEAN_COLOR if standing.rank == 1 else "white"
            means.plot(standing.interval, [place, place], color=MEAN_COLOR, linewidth=2.2)
            means.plot(standing.mean, place, "o", color=MEAN_COLOR, markerfacecolor=inside)
        percents = [100 * standing.unhappy for standing in standings]
        unhappy.barh(places, percents, color=UNHAPPY_COLOR)
        for place, standing in enumerate(standings):
            ends = [100 * end for end in standing.unhappy_interval]
            unhappy.plot(ends, [place, place], color=INTERVAL_COLOR, linewidth=1.2)
        means.set_yticks(places, [standing.system for standing in standings])
        means.set_ylim(-0.7, len(standings) - 0.3)
        style_axes(means, "mean rating, 95 % interval (filled: rank 1)")
        title = "unhappy people" if leaderboard.rated_by_people else "low scores"
        style_axes(unhappy, f"{title} (below {leaderboard.threshold:g}), per cent, 95 % interval")
    return figure
