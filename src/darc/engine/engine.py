"""The engine: prompts become candidates, candidates become samples, samples become a decision."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar, Unpack

import darc.parts.generators
import darc.parts.scorers  # noqa: F401  (registers what users name)
from darc.background import BackgroundLoop
from darc.closing import Closing
from darc.decide.caution import Caution, parse_caution
from darc.decide.method import Method, as_method
from darc.decide.model.calibration_file import as_calibrations
from darc.decide.registry import DEFAULT_RULE
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import NO_STANDARDS, Standards
from darc.engine.copies import copy_flags, merge_copies
from darc.engine.cost import CallCounts, Clock
from darc.engine.decision_search import DecisionSearch, Ranking
from darc.engine.engine_options import EngineOptions, PartsOptions
from darc.engine.failures import raise_cause
from darc.engine.flags import FEWER_CANDIDATES
from darc.engine.generation import CandidateWriter, WrittenCandidates, sampling_for
from darc.engine.languages import language_flags
from darc.engine.outcome import Outcome
from darc.engine.panel_samples import PanelSamples
from darc.engine.parts import Parts
from darc.engine.request import DecisionRequest, as_request
from darc.engine.rewriting import RewriteRunner
from darc.engine.samples import Samples
from darc.engine.scheduling import RequestOwner
from darc.engine.score_cache import ScoreCache
from darc.engine.scoring import ScorerRetry, ScoreRunner
from darc.engine.side_inputs import SideInputMaker, parse_side_inputs
from darc.engine.stopping import Stopping, parse_stop
from darc.engine.threads import run_in_thread
from darc.engine.workers import Workers
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
)
from darc.parts.ready import ReadyGenerator, as_ready_generator, close_part
from darc.parts.scorers.base import Scorer
from darc.parts.scorers.panel import Panel, as_panel
from darc.registry import generators
from darc.settings.validation import validate_settings
from darc.types import Candidate, Prompt

Result = TypeVar("Result")

# How many prompts `map` works on at a time.
_MAP_WINDOW = 16
# How many seconds each part has to close.
_CLOSE_SECONDS = 0.3


class Engine(Closing):
    """Chooses among answers: those of a model (`ask`, `map`) or given ones (`choose`).

    Use an engine in a `with` block or, with the methods that end in `_async`, in an `async with`
    block of one event loop.

    Args:
        model: The generator of answers, by name (see `darc generators`) or as an object; None if
            only given answers are to be chosen from.
        rule: The rule that chooses, by name (see `darc rules`) or with its parameters.
        caution: How much average rating the rule `auto` gives up for an answer that divides people
            less: "none", "low", "medium", "high" or a number.
        calibration: What the rule `auto` has learnt: a `Calibration`, or a file that was written
            by `darc calibrate`.
        normalize: How several scorers are put on one scale: auto, prompt, fixed or none.
        standards: What counts as a good rating.
        search: When to stop asking for scores or grades. "exact" stops when no further one can
            change the choice; "likely" stops asking a panel when the choice is final with an
            estimated probability of 99 %, and flags the decision.
        sampling: How many answers the model writes, and how they are sampled.
        stop: When to stop writing answers, such as "pandora:cost=0.05"; by default all are written.
        cache: Whether to keep scores for later, or where.
        workers: How many worker processes the rewriting and the embedded scorers run in.
        retry: How often and how long scorers are asked.
        judge: The model of raters that name none, where the answers have no model of their own.
        parts: What turns answers into numbers. `scorers` and `rewriter` are names or objects (see
            `darc scorers` and `darc rewriters`). Every candidate is rewritten up to `n_aug` times.
            With a `panel` (a `Panel`, or what `--panel` takes) the samples are its raters' grades
            instead; a model on a server is its own panel where neither is given. Candidates with
            fewer than `min_samples` samples are left out where another has as many.

    Raises:
        InputError: If options contradict each other or cannot be used.
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
        retry: ScorerRetry | None = None,
        judge: ChatModel | None = None,
        **parts: Unpack[PartsOptions],
    ) -> None:
        self.generator = _make_generator(model)
        remote_model = _remote_model_of(self.generator)
        scorers = parts.get("scorers")
        panel = _choose_panel(parts.get("panel"), scorers, remote_model)
        self.parts = _make_parts(parts, panel)
        rewriter = parts.get("rewriter", "")
        self.tools = self.parts.tools(rewriter, scorers or (), remote_model or judge)
        side = parts.get("side")
        if isinstance(side, SideInputMaker):
            self.side_inputs = side
        else:
            self.side_inputs = parse_side_inputs(self.parts.side)
        method = as_method(rule, as_calibrations(calibration))
        if caution is not None:
            parse_caution(caution)
            method = method.with_parameters(caution=caution)
        self.side_inputs.check(method.rule)
        self.method = replace(
            method,
            normalize=normalize,
            seed=self.parts.seed,
            include_original=self.parts.include_original or panel is not None,
            min_samples=self.parts.min_samples,
            standards=standards,
            search_mode=search,
        )
        self._owns_cache = cache is True
        self.cache = _open_cache(cache)
        self.retry = retry or ScorerRetry()
        self.workers = Workers(self.tools, self._worker_parts(rewriter, scorers or ()), workers)
        self.scoring = ScoreRunner(self.tools.scorers, self.workers, self.cache, self.retry)
        self.rewriting = RewriteRunner(self.tools, self.workers, self.retry.seconds)
        self.sampling = sampling_for(
            self.generator, sampling or SamplingParameters(k=8, seed=self.parts.seed), MAX_TOKENS
        )
        self.stopping = _make_stopping(stop)
        self._writer: CandidateWriter | None = None
        if self.generator is not None:
            self._writer = CandidateWriter(self.generator, self.sampling, self.stopping)
        self._background = BackgroundLoop(self.aclose)

    def ask(
        self, prompt: str | Prompt, request: DecisionRequest | None = None, **options: Any
    ) -> Outcome:
        """Let the model answer a prompt, and choose among its answers.

        Args:
            prompt: A question, or a conversation.
            request: What is asked of the decision.
            options: Fields of `DecisionRequest`, by name.

        Returns:
            The chosen answer and everything behind it.

        Raises:
            DarcError: If something fails and the request is strict.
        """
        return self.run(self.ask_async(prompt, request, **options))

    async def ask_async(
        self, prompt: str | Prompt, request: DecisionRequest | None = None, **options: Any
    ) -> Outcome:
        """`ask`, awaited."""
        request = as_request(request, options)
        samples = self.new_samples(as_prompt(prompt), request.max_calls, request.meters)
        clock = request.clock or Clock()
        with raise_cause():
            with clock.stage("generate"):
                written = await self.write_candidates(
                    samples, n=request.n, strict=request.strict, report=request.report
                )
            request = replace(
                request,
                samples=samples,
                clock=clock,
                saved=written.saved,
                flags=[*request.flags, *written.flags],
            )
            return await self.decide(samples.prompt, written.candidates, request)

    def choose(
        self,
        prompt: str | Prompt,
        answers: Answers,
        request: DecisionRequest | None = None,
        **options: Any,
    ) -> Outcome:
        """Choose among given answers.

        Args:
            prompt: A question, or a conversation.
            answers: Texts, texts by their names, or `Candidate`s. Answers with the same text become
                one candidate, so that `Outcome.place`, not `Outcome.index`, is the place of the
                choice among the answers.
            request: What is asked of the decision.
            options: Fields of `DecisionRequest`, by name.

        Returns:
            The chosen answer and everything behind it.

        Raises:
            DarcError: If something fails and the request is strict.
        """
        return self.run(self.choose_async(prompt, answers, request, **options))

    async def choose_async(
        self,
        prompt: str | Prompt,
        answers: Answers,
        request: DecisionRequest | None = None,
        **options: Any,
    ) -> Outcome:
        """`choose`, awaited."""
        prompt = as_prompt(prompt)
        with raise_cause():
            return await self.decide(prompt, as_candidates(prompt, answers), request, **options)

    def map(
        self,
        prompts: Iterable[str | Prompt],
        request: DecisionRequest | None = None,
        *,
        window: int = _MAP_WINDOW,
        **options: Any,
    ) -> Iterator[Outcome]:
        """Ask many prompts.

        Args:
            prompts: Questions or conversations. They are read as they are needed, so there may be
                any number of them.
            request: What is asked of each decision.
            window: How many prompts to work on at a time.
            options: Fields of `DecisionRequest`, by name.

        Yields:
            The outcome of each prompt, in the order of the prompts.
        """
        outcomes = self.map_async(prompts, request, window=window, **options)
        try:
            while True:
                outcome = self.run(_next_outcome(outcomes))
                if outcome is None:
                    return
                yield outcome
        finally:
            self.run(outcomes.aclose())  # type: ignore[attr-defined]

    async def map_async(
        self,
        prompts: Iterable[str | Prompt],
        request: DecisionRequest | None = None,
        *,
        window: int = _MAP_WINDOW,
        **options: Any,
    ) -> AsyncIterator[Outcome]:
        """`map`, awaited."""
        request = as_request(request, options)
        running: deque[asyncio.Task[Outcome]] = deque()
        try:
            for number, prompt in enumerate(prompts, 1):
                if len(running) >= window:
                    yield await running.popleft()
                named_prompt = as_prompt(prompt, str(number))
                running.append(asyncio.ensure_future(self.ask_async(named_prompt, request)))
            while running:
                yield await running.popleft()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def decide(
        self,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        request: DecisionRequest | None = None,
        **options: Any,
    ) -> Outcome:
        """Choose among a prompt's candidates.

        Candidates with the same text are merged first. Where only one is left of several, nothing
        is scored unless the request asks for everything.

        Args:
            prompt: The conversation.
            candidates: The candidates.
            request: What is asked of the decision.
            options: Fields of `DecisionRequest`, by name.

        Returns:
            The chosen answer and everything behind it.

        Raises:
            PartFailed: If a scorer or the rewriter fails and the request is strict.
            DarcError: If the rule cannot be applied and the request is strict.
        """
        request = as_request(request, options)
        method = self._method_for(request)
        merged = merge_copies(candidates)
        samples = self._samples_for(prompt, merged.candidates, method, request)
        search = self.new_search(samples, method, request)
        search.flags += [*request.flags, *copy_flags(merged.candidates, request.n)]
        if _is_one_answer(merged.candidates) and not request.score_everything:
            ranking = Ranking([0], None)
        else:
            search.flags += language_flags(self.tools, prompt, merged.candidates, samples.n_aug)
            ranking = await search.best(request.n, request.deadline)
        best_of_k = None
        if request.also_best_of_k:
            best_of_k = await self._find_best_of_k(samples, ranking, method, request)
        return Outcome(
            prompt=prompt,
            candidates=merged.candidates,
            rewrites=samples.rewrites,
            scores=samples.scores,
            decision=ranking.decision,
            order=ranking.order,
            flags=search.flags,
            milliseconds=samples.clock.milliseconds,
            calls=samples.counts.calls,
            scored=samples.counts.scored,
            from_cache=samples.counts.from_cache,
            saved=request.saved,
            best_of_k=best_of_k,
            places=merged.places,
        )

    async def write_candidates(
        self, samples: Samples, *, n: int = 1, strict: bool = True, report: Report | None = None
    ) -> WrittenCandidates:
        """Let the model write candidates.

        Args:
            samples: The samples of the prompt, which score candidates that are written in waves.
            n: How many different answers are needed.
            strict: Whether a scorer that fails fails the writing.
            report: Told how many candidates are written, as report(done, total).

        Returns:
            The candidates, with flags that say why there are fewer than asked for.

        Raises:
            InputError: If the engine has no model.
        """
        if self._writer is None:
            raise InputError("the engine has no model", "give one: Engine('openai:MODEL@URL')")
        written = await self._writer.write(samples, n=n, strict=strict, report=report)
        if written.failed:
            return replace(written, flags=[FEWER_CANDIDATES, *written.flags])
        return written

    def new_samples(
        self,
        prompt: Prompt,
        max_calls: int | None = None,
        meters: Mapping[str, Meter] | None = None,
    ) -> Samples:
        """The samples of a prompt before there are any candidates.

        Args:
            prompt: The conversation.
            max_calls: How many texts may be scored, or grades asked for.
            meters: Count the remote calls of the stages "rewrite" and "score".

        Returns:
            Samples that rewrite and score candidates, or ask a panel for grades.
        """
        if self.parts.panel is not None:
            return PanelSamples(
                tools=self.tools,
                rewriting=self.rewriting,
                scoring=self.scoring,
                panel=self.parts.panel,
                prompt=prompt,
                owner=RequestOwner(),
                max_calls=max_calls,
                meters=meters or {},
            )
        return Samples(
            tools=self.tools,
            rewriting=self.rewriting,
            scoring=self.scoring,
            prompt=prompt,
            owner=RequestOwner(),
            max_calls=max_calls,
            meters=meters or {},
        )

    def new_search(
        self,
        samples: Samples,
        method: Method | None = None,
        request: DecisionRequest | None = None,
    ) -> DecisionSearch:
        """A search among the candidates of some samples.

        Args:
            samples: The samples, with their candidates.
            method: How to decide; the engine's own method if None.
            request: What is asked of the decision.

        Returns:
            The search, which has not begun.
        """
        request = request or DecisionRequest()
        return DecisionSearch(
            samples=samples,
            method=method or self.method,
            side_inputs=self.side_inputs,
            workers=self.workers,
            score_everything=request.score_everything,
            strict=request.strict,
            wave=request.wave,
        )

    async def compute_side_inputs(
        self, prompt: Prompt, candidates: Sequence[Candidate]
    ) -> dict[str, Any]:
        """Compute all side inputs of a prompt's candidates that can be computed."""
        return await run_in_thread(self.side_inputs.compute, prompt, candidates)

    async def warm(self) -> None:
        """Load the models that are otherwise loaded at the first use, except those on servers."""
        prompt = as_prompt("Is it warm?")
        for place, scorer in enumerate(self.tools.scorers):
            if not (scorer.remote or scorer.in_process):
                await self.scoring.score_texts(place, prompt, ["It is warm."], None, CallCounts())
        uses_workers = any(scorer.in_process for scorer in self.tools.scorers)
        if self.tools.rewriter.in_process or uses_workers:
            await self.workers.warm(self.retry.seconds)

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the engine's own event loop, and return its result."""
        return self._background.run(coroutine)

    async def aclose(self) -> None:
        """Release everything, from the event loop that used it."""
        await self.scoring.aclose()
        if self._writer is not None:
            await self._writer.aclose()
        parts: list[Any] = [
            self.tools.rewriter,
            *self.tools.scorers,
            *self.side_inputs.scorers.values(),
        ]
        if self.generator is not None:
            parts.append(self.generator)
        # A model that is busy is not waited for: it closes when it is done.
        closing = [asyncio.wait_for(close_part(part), _CLOSE_SECONDS) for part in parts]
        for result in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(result, BaseException) and not isinstance(result, TimeoutError):
                raise result
        self._release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Release everything."""
        # The workers end first, so that a cancelled job need not wait for the end of its work.
        self.workers.close(for_good=True)
        self._background.close()
        self._release()

    def _release(self) -> None:
        self.workers.close()
        if self._owns_cache and self.cache is not None:
            self.cache.close()

    def _worker_parts(self, rewriter: object, scorers: Sequence[str | Scorer]) -> Parts | None:
        """What worker processes make their tools from; None if the tools cannot be named."""
        all_named = all(isinstance(part, str) for part in (rewriter, *scorers))
        if not all_named or self.parts.panel is not None:
            return None
        return self.parts.with_fixed_embeddings(self.tools)

    def _method_for(self, request: DecisionRequest) -> Method:
        """How to decide on a request."""
        method = request.method or self.method
        if request.rule is not None:
            method = method.with_rule_of(as_method(request.rule))
        if self.parts.panel is not None:
            method = replace(method, include_original=True)
        return method

    def _samples_for(
        self,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        method: Method,
        request: DecisionRequest,
    ) -> Samples:
        """The samples of merged candidates, with the scores of earlier samples."""
        n_aug = request.n_aug
        if n_aug is None or self.parts.panel is not None:
            n_aug = self.parts.n_aug
        samples = request.samples
        if samples is None:
            samples = self.new_samples(prompt, request.max_calls, request.meters)
        first_sample = method.first_sample
        if n_aug == 0:
            first_sample = 0
        characters = (n_aug + 1) * sum(len(candidate.text) for candidate in candidates)
        return replace(
            samples,
            candidates=candidates,
            n_aug=n_aug,
            owner=RequestOwner(characters),
            first_sample=first_sample,
            clock=request.clock or Clock(),
        )

    async def _find_best_of_k(
        self, samples: Samples, ranking: Ranking, method: Method, request: DecisionRequest
    ) -> int | None:
        """The place of the candidate with the largest mean; None where nothing was compared."""
        decision = ranking.decision
        if decision is None:
            return None
        if decision.is_likely and decision.opinions is not None:
            # To find the largest mean for certain would take the grades that were saved.
            return decision.opinions.best_mean
        search = self.new_search(samples, method.best_of_k, request)
        best_ranking = await search.best(1, request.deadline)
        return best_ranking.order[0]


def _make_generator(model: str | Generator | None) -> ReadyGenerator | None:
    if not model:
        return None
    if isinstance(model, str):
        return as_ready_generator(generators.make(model))
    return as_ready_generator(model)


def _remote_model_of(generator: ReadyGenerator | None) -> ChatModel | None:
    """The model on a server that writes the answers, if there is one."""
    if generator is None:
        return None
    model: ChatModel | None = getattr(generator.part, "model", None)
    if getattr(model, "remote", False):
        return model
    return None


def _choose_panel(
    panel: Panel | bool | int | str | Sequence[str] | None,
    scorers: Sequence[str | Scorer] | None,
    remote_model: ChatModel | None,
) -> Panel | None:
    """The panel that grades the answers, None where scorers score them.

    By default a model on a server judges its own answers as a panel.
    """
    if panel is None:
        use_panel = remote_model is not None and scorers is None
    else:
        use_panel = panel is not False
    if not use_panel:
        return None
    if scorers:
        raise InputError("a panel and scorers are given", "give --panel or --scorer, not both")
    if panel is None:
        return as_panel(True)
    return as_panel(panel)


def _make_parts(options: PartsOptions, panel: Panel | None) -> Parts:
    settings: dict[str, Any] = {**options, "panel": panel}
    if panel is not None:
        settings["n_aug"] = 0
    return validate_settings(Parts, settings)


def _make_stopping(stop: str | Stopping | None) -> Stopping | None:
    if isinstance(stop, str):
        return parse_stop(stop)
    return stop


def _open_cache(cache: bool | ScoreCache) -> ScoreCache | None:
    if cache is True:
        return ScoreCache()
    if cache is False:
        return None
    return cache


def _is_one_answer(candidates: Sequence[Candidate]) -> bool:
    """Whether all answers have the same text, and there were several."""
    return len(candidates) == 1 and candidates[0].copies > 1


async def _next_outcome(outcomes: AsyncIterator[Outcome]) -> Outcome | None:
    return await anext(outcomes, None)


def ask(
    prompt: str | Prompt, model: str | Generator, k: int = 8, **options: Unpack[EngineOptions]
) -> Outcome:
    """Let a model answer a prompt, and choose among its answers.

    Args:
        prompt: A question, or a conversation.
        model: The model, as `Engine` takes it.
        k: How many answers the model writes.
        options: Keywords of `Engine`.

    Returns:
        The chosen answer and everything behind it.
    """
    sampling = options.get("sampling")
    if sampling is None:
        sampling = SamplingParameters(k=k, seed=options.get("seed", 0))
    options["sampling"] = sampling
    with Engine(model, **options) as engine:
        return engine.ask(prompt)


def choose(prompt: str | Prompt, answers: Answers, **options: Unpack[EngineOptions]) -> Outcome:
    """Choose among given answers.

    Args:
        prompt: A question, or a conversation.
        answers: Texts, or texts by their names.
        options: Keywords of `Engine`.

    Returns:
        The chosen answer and everything behind it.
    """
    with Engine(**options) as engine:
        return engine.choose(prompt, answers)
