"""Gains over Best-of-K as one knob moves: K, beta, epsilon and the number of samples."""

from darc.evaluation.figures.picture import Picture, metric_name, numbers, tail_of, values
from darc.evaluation.frame import Frame
from darc.views.chart import PALE, legend_below, looks, new_figure, quiet

KNOBS = {
    "K": "candidates a prompt (K)",
    "beta": "risk aversion (beta)",
    "epsilon": "value given up at most (epsilon)",
    "samples": "samples a candidate to select by",
}


def draw_ablations(ablations: Frame) -> list[Picture]:
    """A picture a knob and source: tradeoff and CVaR, of all prompts and of the contested."""
    pictures = []
    for source in values(ablations, "source"):
        for knob in values(ablations.where(source=source), "knob"):
            frame = ablations.where(source=source, knob=knob)
            pictures.append(_picture(source, knob, frame))
    return pictures


def _picture(source: str, knob: str, frame: Frame) -> Picture:
    settings = sorted(set(numbers(frame, "setting")))
    series = [(m, s) for m in values(frame, "method") for s in values(frame, "subset")]
    styles = looks([f"{method}, {subset}" for method, subset in series])
    figure = new_figure(8.4, 3.9)
    panels = figure.subplots(1, 2)
    for axes, metric in zip(panels, ("tradeoff", tail_of(frame)), strict=True):
        axes.axhline(0, color=PALE, linewidth=1.2)
        for place, (method, subset) in enumerate(series):
            name = f"{method}, {subset}"
            rows = frame.where(method=method, subset=subset)
            shift = 0.3 * (place - (len(series) - 1) / 2) / len(series)
            x = [settings.index(setting) + shift for setting in numbers(rows, "setting")]
            middle, low, high = (
                numbers(rows, f"{part}_{metric}") for part in ("delta", "low", "high")
            )
            axes.vlines(x, low, high, color=styles[name].color, linewidth=1.1, alpha=0.8)
            axes.plot(x, middle, label=name, **styles[name].line)
        quiet(axes, metric_name(metric), KNOBS.get(knob, knob))
        axes.set_xticks(range(len(settings)), [f"{setting:g}" for setting in settings])
    panels[0].set_ylabel("change against Best-of-K", fontsize=9.5)
    legend_below(figure, panels[0], 2)
    caption = f"Gains over Best-of-K, with 95 % intervals, by {KNOBS.get(knob, knob)}."
    return Picture(f"ablation-{knob}", caption, source, figure)
