"""What `darc select` shows on a terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from darc.selection.explain import FLAGS
from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.pipeline.ratings import Decided
    from darc.pipeline.rows import Detail, Summary
    from darc.pipeline.spotlight import Spotlight
    from darc.selection.decision import Decision
    from darc.tables import RatingTable

NUMBERS = ("value", "mean", "sigma", "risk_premium")
TITLES = ("value", "mean", "sigma", "premium")


class Shown:
    """Collects the first rows of the table, and prints it with the summary."""

    def __init__(self, table: "RatingTable", limit: int, detail: "Detail") -> None:
        self._table, self._limit, self._detail = table, limit, detail
        self._rows: list[list[object]] = []
        self._words: list[str] = []

    def add(self, decided: "Decided") -> None:
        """Keep the batch's first rows, as many as are still wanted."""
        batch = decided.batch
        single = len(decided.decisions) == 1
        for row in range(min(len(batch.prompt_ids), self._limit - len(self._rows))):
            names = [batch.candidate_ids[row][int(each.index[row])] for each in decided.decisions]
            cells: list[object] = [batch.prompt_ids[row], *names]
            if single:
                chosen = decided.decisions[0].chosen
                cells += [float(chosen[name][row]) for name in NUMBERS]
                cells += [int(chosen["count"][row]), " ".join(decided.decisions[0].flags_of(row))]
            else:
                cells.append("*" if len(set(names)) > 1 else "")
            self._rows.append(cells)
            if self._detail.columns:
                self._words += [self._say(each) for each in decided.of(row)]

    def _say(self, decision: "Decision") -> str:
        added = self._detail.of(decision)
        return "\n".join(f"    {name}: {value}" for name, value in added.items())

    def print(
        self,
        summary: "Summary",
        spotlight: "Spotlight",
        texts: Mapping[str, str],
    ) -> None:
        """Print one prompt in full, or the table of prompts, and the averages of each rule."""
        if (summary.prompts == 1 or spotlight.wanted is not None) and spotlight.decisions:
            self._print_prompt(str(spotlight.prompt_id), spotlight.decisions)
            _print_texts(spotlight.decisions, texts)
        else:
            self._print_prompts(summary)
        if summary.prompts > 1:
            print()
            print(
                text_table(
                    ["rule", *TITLES, "changed"],
                    [_average(summary, i) for i in range(len(summary.specs))],
                )
            )
        self._print_flags(summary)

    def _print_prompts(self, summary: "Summary") -> None:
        labels = [spec.label for spec in summary.specs]
        header = ["prompt", *labels, ""]
        if len(labels) == 1:
            header = ["prompt", "chosen", *TITLES, "ratings", "flags"]
        lines = text_table(header, self._rows).split("\n")
        print("\n".join(lines[:2]))
        for row, line in enumerate(lines[2:]):
            print(line)
            for words in self._words[row * len(labels) : (row + 1) * len(labels)]:
                print(words)
        rest = summary.prompts - len(self._rows)
        if rest > 0:
            print(f"and {rest} more prompts: --limit shows more, --csv and --out all of them")

    def _print_prompt(self, prompt_id: str, decisions: "list[Decision]") -> None:
        first = decisions[-1]
        order = sorted(
            (k for k in range(len(first.statistics.value)) if first.pools.present[0, k]),
            key=lambda k: -first.statistics.value[k],
        )
        rows: list[list[object]] = []
        for k in order:
            numbers = [float(getattr(first.statistics, name)[k]) for name in NUMBERS]
            chosen = ", ".join(each.rule.name for each in decisions if each.index == k)
            mark = "yes" if first.feasible[k] else "no"
            rows.append(
                [first.labels.candidate(k), *numbers, int(first.statistics.count[k]), mark, chosen]
            )
        print(f"prompt {prompt_id}")
        print(text_table(["candidate", *TITLES, "ratings", "feasible", "chosen by"], rows))
        print()
        for each in decisions:
            print(f"{each.rule.name}: {each.explain()}")
            if self._detail.columns:
                added = self._detail.of(each)
                added.pop("explanation", None)
                print("".join(f"    {name}: {value}\n" for name, value in added.items()), end="")

    def _print_flags(self, summary: "Summary") -> None:
        for spec, flags in zip(summary.specs, summary.flags, strict=True):
            for name, times in flags.items():
                if times and summary.prompts > 1:
                    meaning = FLAGS.get(name, name)
                    print(f"note: {spec.label}, {times} of {summary.prompts} prompts: {meaning}")


def _print_texts(decisions: "list[Decision]", texts: Mapping[str, str]) -> None:
    """Print what each rule took, word for word, where the texts are known."""
    from darc.views.ratings_plot import unhappy

    by_index: dict[int, list[str]] = {}
    for each in decisions:
        rule = "Best-of-K (mean)" if each.rule.name == "mean" else each.rule.name
        by_index.setdefault(each.index, []).append(rule)
    for index, names in by_index.items():
        name = decisions[-1].labels.candidate(index)
        if name in texts:
            how = unhappy(decisions[-1], index)
            print(f"\n{', '.join(names)} took {name}{how and f' ({how})'}: {texts[name]}")


def _average(summary: "Summary", rule: int) -> list[object]:
    numbers = [summary.average(rule, name) for name in NUMBERS]
    changed = "-" if rule == 0 else f"{summary.changed[rule]} of {summary.prompts}"
    return [summary.specs[rule].label, *numbers, changed]
