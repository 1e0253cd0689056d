"""The engine: prompts become candidates, candidates become samples, samples become a decision."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar, Unpack

import darc.parts.generators
import darc.parts.scorers  # noqa: F401  (register what users name)
from darc.background import BackgroundLoop
from darc.closing import Closing
from darc.decide.caution import Caution, parse_caution
from darc.decide.method import Method, as_method
from darc.decide.model.calibration_file import as_calibrations
from darc.decide.registry import DEFAULT_RULE
from darc.decide.rule import Rule
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import NO_STANDARDS, Standards
from darc.engine.choose import Choosing, DecideOptions, EngineOptions, PartsOptions
from darc.engine.copies import copies_input, copy_flags, merge_copies
from darc.engine.languages import language_flags
from darc.engine.outcome import Outcome
from darc.engine.panel_samples import PanelSamples
from darc.engine.parts import Parts, SideMaker
from darc.engine.samples import Clock, Samples, Tally, plainly
from darc.engine.scoring import Batcher, Patience, ScoreCache, Scoring
from darc.engine.stopping import FEWER, Stopping, WaveDrawing, parse_stop, waves_of
from darc.engine.workers import Owner, Turns, Workers
from darc.errors import InputError
from darc.models.completion import ChatModel, Report
from darc.models.remote.meter import Meter
from darc.parts.generators.base import (
    MAX_TOKENS,
    Answers,
    Generator,
    SamplingParameters,
    as_candidates,
    as_prompt,
    drop_failed,
    strip_thoughts,
)
from darc.parts.ready import ReadyGenerator, as_ready_generator, close_part
from darc.parts.scorers.panel import as_panel
from darc.registry import generators
from darc.settings.validation import validate_settings
from darc.types import Candidate, Prompt

Result = TypeVar("Result")
WINDOW = 16
CLOSING_SECONDS = 0.3


class Engine(Closing):
    """Chooses answers: a model's (`ask`, `map`) or somebody's own (`choose`).

    `model`, `scorers`, `rewriter` and `rule` are names as the command line takes them (see
    `darc generators`, `darc scorers`, `darc rewriters`, `darc rules`) or objects. Every candidate
    is rewritten up to `n_aug` times, and what cannot change the choice is neither rewritten nor
    scored. With a `panel` (a `Panel`, or what `--panel` takes) the samples are its raters' grades
    instead; a model on a server is its own panel where neither is given, and `judge` the model of
    raters that name none. `caution` ("none", "low", "medium", "high" or a number) says how much
    average the rule `auto` gives up for an answer that divides people less. `calibration`, a
    `Calibration` or a file of `darc calibrate`, is what that rule goes by, and `standards` say what
    counts as a good rating. With search="likely" it stops asking a panel when its choice is final
    with an estimated probability of 99 %, and the decision is flagged. Candidates with fewer
    samples than `min_samples` are left out where another has as many. With `workers` the rewriting
    and the scorers that ship with DARC run in so many processes. `cache` keeps scores for later.
    With `stop`, such as "pandora:cost=0.05", a model writes further candidates only while they are
    worth their cost. All other options are those of
    `Parts`. Use an engine in a `with` block or, with the methods that end in `_async`, in an
    `async with` block of one event loop.
    """

    def __init__(
        self,
        model: str | Generator | None = None,
        *,
        rule: str | Method = DEFAULT_RULE,
        caution: Caution | None = None,
        calibration: Any = None,
        normalize: str = "auto",
        standards: Standards = NO_STANDARDS,
        search: SearchMode = "exact",
        sampling: SamplingParameters | None = None,
        stop: str | Stopping | None = None,
        cache: bool | ScoreCache = False,
        workers: int = 0,
        patience: Patience | None = None,
        judge: ChatModel | None = None,
        **parts: Unpack[PartsOptions],
    ) -> None:
        self.generator: ReadyGenerator | None = (
            as_ready_generator(generators.make(model) if isinstance(model, str) else model)
            if model
            else None
        )
        own = None if self.generator is None else getattr(self.generator.part, "model", None)
        own = own if getattr(own, "remote", False) else None
        panel, scorers, side = parts.get("panel"), parts.get("scorers"), parts.get("side")
        rated = bool(own) and scorers is None if panel is None else panel is not False
        if rated and scorers:
            raise InputError("a panel and scorers are given", "give --panel or --scorer, not both")
        panel = as_panel(True if panel is None else panel) if rated else None
        self.parts = validate_settings(
            Parts, {**parts, "panel": panel, **({"n_aug": 0} if rated else {})}
        )
        rewriter, scorers = parts.get("rewriter", ""), scorers or ()
        self.tools = self.parts.tools(rewriter, scorers, own or judge)
        self.side = side if isinstance(side, SideMaker) else self.parts.side_maker()
        method = as_method(rule, as_calibrations(calibration))
        if caution is not None:
            parse_caution(caution)
            method = method.with_parameters(caution=caution)
        seed = self.parts.seed
        original = self.parts.include_original or rated
        self.method = replace(
            method,
            normalize=normalize,
            seed=seed,
            include_original=original,
            min_samples=self.parts.min_samples,
            standards=standards,
            search_mode=search,
        )
        self.side.check(method.rule)
        named = all(isinstance(part, str) for part in (rewriter, *scorers)) and not rated
        pinned = self.parts.pinned(self.tools) if named else None
        self.workers = Workers(self.tools, pinned, workers)
        self._owns_cache = cache is True
        self.cache = ScoreCache() if cache is True else None if cache is False else cache
        self.patience = patience or Patience()
        self.scoring = Scoring(self.tools, self.workers, self.cache, self.patience)
        limit = MAX_TOKENS if self.generator is None else self.generator.max_tokens or MAX_TOKENS
        sampling = sampling or SamplingParameters(k=8, seed=seed)
        self.sampling = replace(sampling, max_tokens=sampling.tokens(limit))
        self.stopping = parse_stop(stop) if isinstance(stop, str) else stop
        at_once = 1 if self.generator is None else int(self.generator.parallel)
        self._writing: Batcher[tuple[Prompt, SamplingParameters], list[Candidate]] = Batcher(
            self._write, size=max(1, -(-at_once // self.sampling.k))
        )
        self.rewriting = Turns(self.tools.rewriter.parallel)
        self.report: Report | None = None
        self._background = BackgroundLoop(self.aclose)

    async def generate(
        self, prompt: Prompt, sampling: SamplingParameters | None = None
    ) -> list[Candidate | None]:
        """K candidates of the model, in order; `sampling` asks for others than the engine's.

        What the model thinks aloud is no part of them; None is one that never ended its thought.
        """
        if self.generator is None:
            raise InputError("the engine has no model", "give one: Engine('openai:MODEL@URL')")
        settings = sampling or self.sampling
        if self.generator.remote:
            report = self.report if sampling is None else None
            (made,) = await self.generator.generate_async([prompt], settings, report)
        else:
            (made,) = await self._writing.ask([(prompt, settings)], object())
        return [strip_thoughts(each) for each in made]

    async def draw(
        self, samples: Samples, n: int | None = None, strict: bool = True
    ) -> tuple[list[Candidate], int, WaveDrawing | None]:
        """The model's candidates for the `n` best, how many failed, and how they were drawn."""
        if self.stopping is None or not (self.generator and self.generator.continues):
            made = await self.generate(samples.prompt)
            there = drop_failed(made)
            return there, len(made) - len(there), None
        wave, stopping = waves_of(self, samples.prompt), self.stopping.at_least(n)
        drawn = WaveDrawing(samples, self.sampling.k, stopping, wave, strict, choices=n or 1)
        there = drop_failed(await drawn.candidates())
        return there, self.sampling.k - drawn.saved - len(there), drawn

    async def ask_async(self, prompt: str | Prompt, **options: Unpack[DecideOptions]) -> Outcome:
        """`ask`, awaited."""
        prompt, clock = as_prompt(prompt), Clock()
        with plainly():
            with clock.stage("generate"):
                samples = self.samples(prompt, options.get("calls"), options.get("meters"))
                best, strict = options.get("n"), options.get("strict", True)
                candidates, failed, options["drawn"] = await self.draw(samples, best, strict)
            options["flags"] = [*options.get("flags", ()), *([FEWER] if failed else [])]
            options["clock"] = clock
            return await self.decide(prompt, candidates, **options)

    def ask(self, prompt: str | Prompt, **options: Unpack[DecideOptions]) -> Outcome:
        """The outcome for a prompt that the model answers; `options` are those of `decide`."""
        return self.run(self.ask_async(prompt, **options))

    async def choose_async(
        self, prompt: str | Prompt, answers: Answers, **options: Unpack[DecideOptions]
    ) -> Outcome:
        """`choose`, awaited."""
        prompt = as_prompt(prompt)
        with plainly():
            return await self.decide(prompt, as_candidates(prompt, answers), **options)

    def choose(
        self, prompt: str | Prompt, answers: Answers, **options: Unpack[DecideOptions]
    ) -> Outcome:
        """The outcome for answers of one's own; `options` are those of `decide`.

        Answers are texts, texts by their names, or `Candidate`s; their names are kept. Answers with
        the same text become one candidate, so that `Outcome.place`, not `Outcome.index`, is the
        place of the choice among the `answers`.
        """
        return self.run(self.choose_async(prompt, answers, **options))

    async def map_async(
        self,
        prompts: Iterable[str | Prompt],
        *,
        window: int = WINDOW,
        **options: Unpack[DecideOptions],
    ) -> AsyncIterator[Outcome]:
        """`map`, awaited."""
        under_way: deque[asyncio.Task[Outcome]] = deque()
        try:
            for place, prompt in enumerate(prompts):
                if len(under_way) >= window:
                    yield await under_way.popleft()
                named = as_prompt(prompt, str(place + 1))
                under_way.append(asyncio.ensure_future(self.ask_async(named, **options)))
            while under_way:
                yield await under_way.popleft()
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    def map(
        self,
        prompts: Iterable[str | Prompt],
        *,
        window: int = WINDOW,
        **options: Unpack[DecideOptions],
    ) -> Iterator[Outcome]:
        """The outcomes of many prompts in their order, `window` of them at work at a time.

        Prompts are taken as they are wanted, so that there may be any number of them.
        """
        outcomes = self.map_async(prompts, window=window, **options)
        try:
            while (outcome := self.run(_next(outcomes))) is not None:
                yield outcome
        finally:
            self.run(outcomes.aclose())  # type: ignore[attr-defined]

    async def decide(
        self,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        *,
        rule: str | Method | None = None,
        n: int = 1,
        n_aug: int | None = None,
        full: bool = False,
        strict: bool = True,
        calls: int | None = None,
        deadline: float | None = None,
        wave: int | None = None,
        flags: Sequence[str] = (),
        method: Method | None = None,
        clock: Clock | None = None,
        meters: dict[str, Meter] | None = None,
        drawn: WaveDrawing | None = None,
        samples: Samples | None = None,
        beside: bool = False,
    ) -> Outcome:
        """The `Outcome` of choosing `n` of a prompt's candidates.

        With `full` every rewrite is made and scored. `calls` bounds the texts scored and `deadline`
        (of the event loop's clock) the time; what is best by then is taken, and flagged. `strict`
        raises `PartFailed`; otherwise the choice goes on without the part, and is flagged. Choices
        take turns, those with few characters first. `meters` hear of the remote calls of the stages
        rewrite and score. What scorers said when the candidates were `drawn` is kept, and what
        `samples` know from an earlier decision on some of the candidates. With `beside`, what
        Best-of-K takes of the same samples is found too. Candidates with the same text are merged
        first; where one is left of several, nothing is scored unless `full`.
        """
        merged = merge_copies(candidates)
        candidates = merged.candidates
        method = method or self.method
        if rule is not None:
            method = method.with_rule_of(as_method(rule))
        if self.parts.panel is not None:
            n_aug, method = None, replace(method, include_original=True)
        n_aug = self.parts.n_aug if n_aug is None else n_aug
        characters = (n_aug + 1) * sum(len(each.text) for each in candidates)
        if drawn is not None:
            samples = drawn.samples
        samples = replace(
            samples or self.samples(prompt, calls, meters),
            candidates=candidates,
            n_aug=n_aug,
            owner=Owner(characters),
            first=method.first_sample if n_aug != 0 else 0,
            clock=clock or Clock(),
        )
        known_flags = list(flags)
        if drawn is not None:
            known_flags += drawn.flags
        known_flags += copy_flags(candidates, n)
        if len(candidates) == 1 and candidates[0].copies > 1 and not full:
            order, decision = [0], None
        else:
            known_flags += language_flags(self.tools, prompt, candidates, n_aug)
            choosing = Choosing(samples, method, full, strict, wave, known_flags)
            order, decision = await choosing.best(n, deadline)
            known_flags = choosing.flags
        other = None
        if beside and decision is not None:
            if decision.is_likely and decision.opinions is not None:
                # To find the largest mean for certain would take the grades that were saved.
                other = decision.opinions.best_mean
            else:
                beside_it = Choosing(samples, method.best_of_k, full, strict, wave)
                (other, *_), _ = await beside_it.best(1, deadline)
        return Outcome(
            prompt,
            candidates,
            samples.rewrites,
            samples.scores,
            decision,
            order,
            known_flags,
            samples.clock.milliseconds,
            samples.tally.calls,
            samples.tally.asked,
            samples.tally.kept,
            0 if drawn is None else drawn.saved,
            other,
            merged.places,
        )

    def samples(
        self, prompt: Prompt, calls: int | None = None, meters: dict[str, Meter] | None = None
    ) -> Samples:
        """Nothing yet of a prompt's candidates: rewrites of them, or a panel's grades."""
        kind = Samples if self.parts.panel is None else PanelSamples
        return kind(self, prompt, [], owner=object(), limit=calls, meters=meters or {})

    async def side_inputs(
        self, prompt: Prompt, candidates: Sequence[Candidate], rule: Rule | None = None
    ) -> dict[str, Any]:
        """What rules want to know besides the scores; with a rule, nothing that it does not use."""
        if rule is not None and not (rule.required() or set(rule.takes) & set(self.side.scorers)):
            return copies_input(candidates)
        return dict(await self.workers.in_thread(self.side.make, prompt, candidates))

    async def warm(self) -> None:
        """Load what is loaded at the first use, except what is on servers."""
        prompt = as_prompt("Is it warm?")
        for place, scorer in enumerate(self.tools.scorers):
            if not (scorer.remote or scorer.in_process):
                await self.scoring.score(place, prompt, ["It is warm."], None, Tally())
        if self.tools.rewriter.in_process or any(s.in_process for s in self.tools.scorers):
            await self.workers.warm(self.patience.seconds)

    async def aclose(self) -> None:
        """Let go of everything, from the event loop that used it."""
        await self.scoring.aclose()
        await self._writing.aclose()
        parts: list[Any] = [self.tools.rewriter, *self.tools.scorers]
        parts += [*self.side.scorers.values(), *filter(None, [self.generator])]
        # A model that is busy is not waited for: it closes when it is done.
        closing = (asyncio.wait_for(close_part(part), CLOSING_SECONDS) for part in parts)
        for ended in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, TimeoutError):
                raise ended
        self._release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Let go of everything."""
        # At once, so that whatever is cancelled need not wait for the end of its work.
        self.workers.close(for_good=True)
        self._background.close()
        self._release()

    def _release(self) -> None:
        self.workers.close()
        if self._owns_cache and self.cache is not None:
            self.cache.close()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What a coroutine returns, run in the engine's own event loop."""
        return self._background.run(work)

    async def _write(
        self, wishes: list[tuple[Prompt, SamplingParameters]]
    ) -> list[list[Candidate]]:
        assert self.generator is not None
        made: dict[int, list[Candidate]] = {}
        for sampling in dict.fromkeys(settings for _, settings in wishes):
            places = [place for place, wish in enumerate(wishes) if wish[1] == sampling]
            prompts = [wishes[place][0] for place in places]
            report = self.report if sampling == self.sampling else None
            own = await self.workers.in_thread(self.generator.generate, prompts, sampling, report)
            made |= zip(places, own, strict=True)
        return [made[place] for place in range(len(wishes))]


async def _next(outcomes: AsyncIterator[Outcome]) -> Outcome | None:
    return await anext(outcomes, None)


def ask(
    prompt: str | Prompt, model: str | Generator, k: int = 8, **options: Unpack[EngineOptions]
) -> Outcome:
    """The outcome for a prompt that a model answers `k` times; `options` are `Engine`'s."""
    options["sampling"] = options.get("sampling") or SamplingParameters(
        k=k, seed=options.get("seed", 0)
    )
    with Engine(model, **options) as engine:
        return engine.ask(prompt)


def choose(prompt: str | Prompt, answers: Answers, **options: Unpack[EngineOptions]) -> Outcome:
    """The outcome for answers of one's own, texts or texts by name; `options` are `Engine`'s."""
    with Engine(**options) as engine:
        return engine.choose(prompt, answers)
