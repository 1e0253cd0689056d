"""Gains over Best-of-K as one knob moves: K, beta, epsilon and the number of samples."""

from darc.evaluation.figures.picture import Picture, metric_name, numbers, tail_of, values
from darc.evaluation.frame import Frame
from darc.views.chart import legend_below, looks, new_figure, quiet
from darc.views.palette import PALE

KNOBS = {
    "K": "candidates a prompt (K)",
    "beta": "risk aversion (beta)",
    "epsilon": "value given up at most (epsilon)",
    "samples": "samples of each candidate that select",
    "n_aug": "rewrites that select, beside the original (N_aug)",
}


def draw_ablations(ablations: Frame) -> list[Picture]:
    """A picture a knob, source and judge: tradeoff and CVaR, of all prompts and the contested."""
    pictures = []
    for source in values(ablations, "source"):
        for knob in values(ablations.where(source=source), "knob"):
            frame = ablations.where(source=source, knob=knob)
            for place, by in enumerate(values(frame, "judged_by")):
                name = f"ablation-{knob}" + (f"-judge{place + 1}" if place else "")
                pictures.append(_picture(source, knob, name, frame.where(judged_by=by)))
    return pictures


def _picture(source: str, knob: str, name: str, frame: Frame) -> Picture:
    settings = sorted(set(numbers(frame, "setting")))
    series = [(m, s) for m in values(frame, "method") for s in values(frame, "subset")]
    styles = looks([f"{method}, {subset}" for method, subset in series])
    figure = new_figure(8.4, 3.9)
    panels = figure.subplots(1, 2)
    for axes, metric in zip(panels, ("tradeoff", tail_of(frame)), strict=True):
        axes.axhline(0, color=PALE, linewidth=1.2)
        for place, (method, subset) in enumerate(series):
            label = f"{method}, {subset}"
            rows = frame.where(method=method, subset=subset)
            shift = 0.3 * (place - (len(series) - 1) / 2) / len(series)
            x = [settings.index(setting) + shift for setting in numbers(rows, "setting")]
            middle, low, high = (
                numbers(rows, f"{part}_{metric}") for part in ("delta", "low", "high")
            )
            axes.vlines(x, low, high, color=styles[label].color, linewidth=1.1, alpha=0.8)
            axes.plot(x, middle, label=label, **styles[label].line)
        quiet(axes, metric_name(metric), KNOBS.get(knob, knob))
        axes.set_xticks(range(len(settings)), [f"{setting:g}" for setting in settings])
    panels[0].set_ylabel("change against Best-of-K", fontsize=9.5)
    legend_below(figure, panels[0], 2)
    by = values(frame, "judged_by")[0]
    caption = (
        f"Gains over Best-of-K, with 95 % intervals, by {KNOBS.get(knob, knob)}; judged by {by}."
    )
    return Picture(name, caption, source, figure)
