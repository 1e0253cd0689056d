import asyncio
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from darc.errors import InputError, MissingExtra
from darc.models.completion import Request
from darc.models.embedded import EmbeddedModel
from darc.models.installed import Installed
from darc.types import Message

SKY = (Message("user", "Why is the sky blue?"),)
LONG = (
    Message("user", "Summarise: " + " ".join(f"Hen {i} laid {i % 7} eggs." for i in range(70))),
)


def request(messages: tuple[Message, ...] = SKY, tokens: int = 16, seed: int = 1) -> Request:
    return Request(messages=messages, max_tokens=tokens, seed=seed)


def test_the_same_request_gives_the_same_text_whatever_is_beside_it(model: EmbeddedModel) -> None:
    requests = [request(SKY, 24, seed) for seed in range(4)]
    requests += [request(LONG, 6, seed) for seed in range(2)]
    shuffled = random.Random(0).sample(requests, len(requests))
    together = [(one.text, one.log_likelihood) for one in model.complete(requests)]
    again = dict(zip(map(id, shuffled), model.complete(shuffled), strict=True))
    assert [(again[id(each)].text, again[id(each)].log_likelihood) for each in requests] == together
    for place in (1, 4):
        (alone,) = model.complete([requests[place]])
        assert (alone.text, alone.log_likelihood) == together[place]
    assert len({text for text, _ in together}) == len(requests)


def test_slots_and_threads_do_not_matter(model: EmbeddedModel, installed: Installed) -> None:
    requests = [request(SKY, 8, 5), request(SKY, 8, 6)]
    with EmbeddedModel(installed.path, threads=2, slots=2, context=1024) as other:
        ours = model.complete(requests)
        theirs = other.complete(requests)
    assert [one.text for one in ours] == [one.text for one in theirs]


def test_length_and_tokens(model: EmbeddedModel) -> None:
    (cut,) = model.complete([request(tokens=5)])
    assert (cut.tokens, cut.truncated) == (5, True)
    question = (Message("user", "What is the capital of France? Answer in one word."),)
    (whole,) = model.complete([replace(request(question, 24), temperature=0.0)])
    assert "Paris" in whole.text
    assert not whole.truncated


def test_log_likelihood_is_higher_for_greedy(model: EmbeddedModel) -> None:
    greedy, hot = model.complete(
        [replace(request(), temperature=0.0), replace(request(), temperature=2.0, top_p=1.0)]
    )
    assert greedy.log_likelihood is not None
    assert hot.log_likelihood is not None
    assert -20 < hot.log_likelihood < greedy.log_likelihood < 0


def test_stop_strings_end_the_answer(model: EmbeddedModel) -> None:
    base = replace(request(tokens=24), temperature=0.0)
    (free,) = model.complete([base])
    word = free.text.split()[3]
    (stopped,) = model.complete([replace(base, stop=[word])])
    assert stopped.text == free.text[: free.text.index(word)]
    assert not stopped.truncated


def test_earlier_turns_are_read(model: EmbeddedModel) -> None:
    turns = (
        Message("system", "Be brief."),
        Message("user", "My dog is called Bramble."),
        Message("assistant", "What a lovely name."),
        Message("user", "What is my dog called?"),
    )
    (answer,) = model.complete([replace(request(turns, 24), temperature=0.0)])
    assert "Bramble" in answer.text


def test_several_threads_at_once(model: EmbeddedModel) -> None:
    async def ask() -> list[str]:
        calls = [asyncio.to_thread(model.complete, [request(tokens=6, seed=s)]) for s in range(3)]
        return [answers[0].text for answers in await asyncio.gather(*calls)]

    texts = [one.text for one in model.complete([request(tokens=6, seed=s) for s in range(3)])]
    assert asyncio.run(ask()) == texts


def test_progress_counts_the_answers(model: EmbeddedModel) -> None:
    seen: list[tuple[int, int]] = []
    requests = [Request((Message("user", "Hi"),), max_tokens=2, seed=i) for i in range(3)]
    model.complete(requests, lambda done, total: seen.append((done, total)))
    assert sorted(seen) == [(1, 3), (2, 3), (3, 3)]


def test_a_closed_model_loads_again(installed: Installed) -> None:
    model = EmbeddedModel(installed.path, slots=1, context=256)
    first = model.complete([request(tokens=2)])[0].text
    model.close()
    model.close()
    assert model.complete([request(tokens=2)])[0].text == first
    model.close()


def test_nothing_is_printed(installed: Installed) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from darc.models.completion import Request; from darc.types import Message\n"
        "from darc.models.embedded import EmbeddedModel\n"
        "with EmbeddedModel(Path(sys.argv[1]), slots=1, context=256) as model:\n"
        "    model.complete([Request((Message('user', 'Hi'),), max_tokens=2)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, installed.path], capture_output=True, text=True, check=True
    )
    assert done.stdout + done.stderr == ""


def test_a_request_that_does_not_fit_is_refused(model: EmbeddedModel) -> None:
    endless = (Message("user", "word " * 3000),)
    with pytest.raises(InputError, match="refused a request"):
        model.complete([request(endless)])
    with pytest.raises(InputError, match="max_tokens is 0"):
        model.complete([request(tokens=0)])
    assert model.complete([]) == []


def test_missing_model_and_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(InputError, match="run: darc models install"):
        EmbeddedModel(tmp_path / "no.gguf").complete([request()])
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")
    with pytest.raises(InputError, match="cannot be loaded"):
        EmbeddedModel(broken).complete([request()])
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match="the embedded model needs the 'embedded' extra"):
        EmbeddedModel(broken).complete([request()])
