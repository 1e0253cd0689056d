"""The rewriter, the scorers and the side inputs of rules: as users write them, and made ready."""

import json
import math
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, InstanceOf, model_validator

from darc.decide.rule import Rule
from darc.decide.side_inputs import SIDE_SCORERS, missing_side_input
from darc.engine.copies import copies_input
from darc.errors import DarcError, InputError, MissingExtra
from darc.models.completion import ChatModel
from darc.models.embeddings import Embeddings, MiniLM, installed
from darc.parts.ready import ReadyRewriter, ReadyScorer, as_ready_rewriter, as_ready_scorer
from darc.parts.rewriters import Perturbed, Rewriter, Slice, perturb_slice
from darc.parts.rewriters.filters import Entities, Similarity
from darc.parts.scorers.base import Embedder, Pair, Scorer
from darc.parts.scorers.judge import Judge
from darc.parts.scorers.panel import Panel
from darc.registry import rewriters, scorers
from darc.settings.sampling import RewriteSettings
from darc.types import Candidate, Message, Prompt, Scores
from darc.typing import Array

# Static embeddings of the hand-made rewrites in the tests: 1 in 100 good ones lies below.
LEAST = 0.62


def similarity_of(embedder: Embedder) -> Similarity:
    """The cosines of pairs of texts, (pairs,)."""

    def similarity(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        if not pairs:
            return np.zeros(0)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = np.asarray(embedder.embed(texts), dtype=np.float64)
        place = {text: row for row, text in enumerate(texts)}
        left, right = (vectors[[place[pair[side]] for pair in pairs]] for side in (0, 1))
        return np.einsum("nd,nd->n", left, right)

    return similarity


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _call(text: str, without: Sequence[str]) -> str | None:
    """The tool calls on the last line of a text in one order, without ids and some arguments."""
    try:
        found = json.loads(text.strip().rpartition("\n")[2])
        found = found if isinstance(found, list) else [found]
        calls = [each.get("function", each) for each in found]
        given = [(call["name"], call["arguments"]) for call in calls]
        read = [(name, json.loads(own) if isinstance(own, str) else own) for name, own in given]
        for (_, own), each in product(read, without):
            own.pop(each, None)
        return json.dumps(read, sort_keys=True)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def same_answers(texts: Sequence[str], without: Sequence[str] = ()) -> dict[str, list[float]]:
    """The first answer with the same text, last number or tool call; itself where it has none.

    Calls are compared `without` the arguments of these names.
    """
    found = [_NUMBER.findall(text.replace(",", "").replace("\u2212", "-")) for text in texts]
    kinds: dict[str, list[Any]] = {
        "same_text": [text.strip() for text in texts],
        "same_number": [float(numbers[-1]) if numbers else None for numbers in found],
        "same_call": [_call(text, without) for text in texts],
    }
    return {
        name: [float(k if own is None else each.index(own)) for k, own in enumerate(each)]
        for name, each in kinds.items()
    }


@dataclass(frozen=True)
class SideMaker:
    """Makes side inputs: what the candidates carry, similarities, and what scorers are named for.

    `scorers` maps log_likelihood, atypicality or dropout to the scorer that gives it; one for
    dropout has a method samples(pairs) -> (n, T). Tool calls are compared `without` some arguments.
    """

    scorers: Mapping[str, Scorer]
    embedder: Embedder | None
    without: tuple[str, ...] = ()

    def check(self, rule: Rule) -> None:
        """Refuse a rule whose side inputs cannot be made, before anything is done."""
        for name in rule.required():
            if name == "similarity" and self.embedder is None:
                raise MissingExtra(f"rule {rule.name!r} (similarities of answers)", "embedded")
            if name in ("atypicality", "dropout") and name not in self.scorers:
                raise missing_side_input(f"rule {rule.name!r} needs {name!r}", name)

    def make(self, prompt: Prompt, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """The side inputs of one prompt's candidates, as lists: those that can be had."""
        texts = [candidate.text for candidate in candidates]
        side: dict[str, Any] = {"tokens": [candidate.tokens for candidate in candidates]}
        side |= same_answers(texts, self.without)
        side |= copies_input(candidates)
        known = [candidate.log_likelihood for candidate in candidates]
        if None not in known:
            side["log_likelihood"] = known
        if self.embedder is not None:
            vectors = np.asarray(self.embedder.embed(texts), dtype=np.float64)
            side["similarity"] = np.round(vectors @ vectors.T, 9).tolist()
        for name, scorer in self.scorers.items():
            draw = getattr(scorer, "samples", None) if name == "dropout" else scorer.score
            if draw is None:
                raise InputError(
                    f"scorer {scorer.name!r} has no stochastic passes",
                    "such as dropout=dropout:MODEL",
                )
            pairs = [(prompt, text) for text in texts]
            side[name] = np.asarray(draw(pairs), dtype=np.float64).tolist()
        return side


def checked(where: str, answer: object, pairs: Sequence[Pair], criteria: int = 0) -> Array:
    """What a scorer answers, as finite numbers: one a pair, or one a pair and criterion."""
    try:
        numbers = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise DarcError(f"{where}: it returned no numbers", "return one a text") from None
    if numbers.shape != ((len(pairs), criteria) if criteria else (len(pairs),)):
        raise DarcError(
            f"{where}: it returned an array of shape {numbers.shape} for {len(pairs)} texts",
            "a scorer returns one number a text",
        )
    if not np.isfinite(numbers).all():
        fine = np.isfinite(numbers.reshape(len(pairs), -1)).all(axis=1)
        text = pairs[int(np.argmin(fine))][1]
        raise DarcError(
            f"{where}: it gave no number for the text {shortened(text)}",
            "a scorer returns finite numbers",
        )
    return numbers


def shortened(text: str) -> str:
    """The beginning of a text, quoted."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


PANEL = "panel"
SCORERS = ("relevance", "fluency", "form", "harm")


def surface_note(names: Sequence[str]) -> str:
    """That only embedded scorers decide, and the two ways out; empty where another one does."""
    names = [name.partition(",")[0] for name in names]
    if not names or not set(names) <= set(SCORERS):
        return ""
    return (
        f"Only surface scorers decide here ({', '.join(names)}): they see wording, not truth. Add "
        "a judge or a panel of them (--scorer judge:MODEL@URL) or a reward model "
        "(--scorer reward:MODEL)."
    )


def called(names: Sequence[str]) -> tuple[str, ...]:
    """The names of candidates, where any has one."""
    every = tuple(name or f"candidate {k}" for k, name in enumerate(names))
    return every if any(names) else ()


@dataclass(frozen=True)
class Unfinished:
    """How far rewriting has come, pickled, and what it wants to be told of the rewriter."""

    state: bytes
    wish: tuple[int, str, int] | None


def _named(part: Any) -> Any:
    """The names of parts that are given themselves; anything else as it is."""
    return [*map(_named, part)] if isinstance(part, list | tuple) else getattr(part, "name", part)


class Parts(RewriteSettings):
    """What turns answers into numbers, as users write it.

    The samples of an answer are itself, unless `include_original` is False, and up to `n_aug`
    accepted rewrites of at most `max_attempts` proposed (4 n_aug if None); with a `panel`, its
    raters' grades. What is given itself and not by its name leaves its name here.
    """

    scorers: tuple[str, ...] = SCORERS
    panel: InstanceOf[Panel] | None = None
    seed: int = 0
    min_samples: int | None = None
    side: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _names(cls, given: dict[str, Any]) -> dict[str, Any]:
        own = {key: _named(part) for key, part in given.items() if part is not None}
        named = {key: part for key, part in own.items() if not isinstance(part, SideMaker)}
        return {**named, "scorers": ()} if "panel" in named else named

    def tools(
        self,
        rewriter: str | Rewriter = "",
        given: Sequence[str | Scorer] = (),
        own: ChatModel | None = None,
    ) -> "Tools":
        """The tools, made from their names unless they are given.

        Nothing is loaded that is not needed to know that it can be. `own` is the model that writes
        the answers, for a panel that is to judge by it.
        """
        if self.panel is not None:
            judges = [as_ready_scorer(judge) for judge in self.panel.judges(own, self.seed)]
            return Tools(as_ready_rewriter(rewriters.make("rules")), judges, self)
        if not (self.n_aug or self.include_original):
            raise InputError(
                "with neither the original nor a rewrite there is nothing to score",
                "give an n_aug of 1 or more, or include the original",
            )
        find_entities: Entities | None = None
        if self.entities:
            from darc.parts.rewriters.ner import entity_finder

            find_entities = entity_finder(self.entities)
        maker, makers = rewriter or self.rewriter, given or self.scorers
        return Tools(
            as_ready_rewriter(rewriters.make(maker) if isinstance(maker, str) else maker),
            [as_ready_scorer(scorers.make(m) if isinstance(m, str) else m) for m in makers],
            self,
            similarity_of(Embeddings()) if self.guard and installed() else None,
            find_entities,
        )

    def pinned(self, tools: "Tools") -> "Parts":
        """The same with the embeddings that the tools have, whatever is installed later."""
        kinds = {Embeddings.name: "static", MiniLM.name: "minilm"}
        names = tuple(
            f"{text},embeddings={kinds[scorer.embeddings]}" if text == "relevance" else text
            for text, scorer in zip(self.scorers, tools.scorers, strict=True)
        )
        return self.model_copy(update={"scorers": names})

    def side_maker(self) -> SideMaker:
        """What makes the side inputs of rules."""
        made, without = dict[str, Scorer](), tuple[str, ...]()
        for name, text in self.side.items():
            if name not in SIDE_SCORERS:
                what = f"--side {name}: there is no such side input"
                raise InputError(what, f"one of {', '.join(SIDE_SCORERS)}")
            if name == "same_call":
                kind, _, names = text.partition(":")
                if kind != "without" or not names:
                    raise InputError(f"--side {name}={text} cannot be used", "write without:NAME")
                without = tuple(each.strip() for each in names.split(","))
            else:
                made[name] = scorers.make(text)
        return SideMaker(made, Embeddings() if installed() else None, without)


@dataclass(frozen=True)
class Tools:
    """A rewriter and some scorers, ready: what turns the answers to a prompt into numbers.

    `similarity` and `find_entities` are further checks of rewrites. With a panel the samples are
    its raters' grades, and the scorers its judges.
    """

    rewriter: ReadyRewriter
    scorers: Sequence[ReadyScorer]
    parts: Parts = field(default_factory=Parts)
    similarity: Similarity | None = None
    find_entities: Entities | None = None

    def __post_init__(self) -> None:
        """Refuse scorers that cannot be told apart, or none."""
        names = [scorer.name for scorer in self.scorers]
        if not names:
            raise InputError("there is no scorer", "give at least one")
        if len(set(names)) < len(names):
            twice = max(names, key=names.count)
            raise InputError(f"scorer {twice!r} is given twice", "give each scorer once")

    def scores(self, candidates: Sequence[Candidate], n_aug: int) -> Scores:
        """Scores of which none is known yet."""
        panel, names = self.parts.panel, [candidate.name for candidate in candidates]
        ids = ("original", *(f"rewrite {i}" for i in range(1, 1 + n_aug)))
        parts = [(each.name, each.bounds, each.location, each.scale) for each in self.scorers]
        if panel is not None:
            ids, parts = panel.names, [(PANEL, Judge.bounds, None, None)]
        scorers, bounds, location, scale = zip(*parts, strict=True)
        return Scores(
            values=np.full((len(parts), len(candidates), len(ids)), np.nan),
            scorers=scorers,
            bounds=tuple((float(low), float(high)) for low, high in bounds),
            location=location,
            scale=scale,
            samples=ids,
            candidates=called(names),
            complete=False,
            sample="rewrite" if panel is None else "rater",
            criteria=() if panel is None else panel.criteria,
        )

    def rewrite(
        self,
        prompt: Prompt,
        candidate: Candidate,
        n_aug: int,
        stop: Callable[[], bool] = lambda: False,
    ) -> Perturbed:
        """The accepted and the rejected rewrites of a candidate; `stop` ends the work early."""
        return self._slice(prompt, candidate, n_aug, stop=stop, seconds=math.inf).result

    def rewrite_slice(
        self,
        prompt: Prompt,
        candidate: Candidate,
        n_aug: int,
        before: Unfinished | None,
        told: list[str] | None,
        seconds: float,
    ) -> Perturbed | Unfinished:
        """The rewrites of a candidate, or after so many seconds how far they have come.

        That is pickled here: whoever keeps it until the next slice need not know what is in it. A
        rewriter on a server is not asked: what it is wished for is `told`, with the next slice.
        """
        state: Slice | None = None if before is None else pickle.loads(before.state)
        if state is not None and told is not None:
            state.wish, state.told = None, told
        asks = not self.rewriter.remote
        made = self._slice(prompt, candidate, n_aug, state=state, seconds=seconds, asks=asks)
        return made.result if made.finished else Unfinished(pickle.dumps(made), made.wish)

    def _slice(self, prompt: Prompt, candidate: Candidate, n_aug: int, **how: Any) -> Slice:
        return perturb_slice(
            prompt,
            candidate,
            n_aug,
            self.rewriter.part,
            family=self.parts.family,
            seed=self.parts.seed,
            max_attempts=self.parts.max_attempts,
            similarity=self.similarity,
            least_similarity=LEAST,
            find_entities=self.find_entities,
            **how,
        )

    def score(self, place: int, pairs: Sequence[Pair]) -> Array:
        """What one scorer gives pairs of prompt and answer."""
        return self.scorers[place].score(pairs)

    def warm(self) -> None:
        """Use once what runs in worker processes, so that it is loaded."""
        prompt = Prompt("warm", (Message("user", "Is it warm?"),))
        if self.rewriter.in_process and self.parts.n_aug:
            self.rewrite(prompt, Candidate("warm", 0, "It is warm today, isn't it?"), 1)
        for scorer in self.scorers:
            if scorer.in_process:
                scorer.score([(prompt, "It is warm.")])
