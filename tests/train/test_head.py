"""A preference fitted to pairs, and the scorer that uses it."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.parts.scorers.test_scorers import prompt

from darc.cli import main
from darc.errors import InputError
from darc.models.embeddings import Embeddings
from darc.models.installed import CACHE_ENV
from darc.parts.scorers import Head
from darc.parts.scorers.head import Preference, read_preference, write_preference
from darc.registry import scorers
from darc.train.head import fit_head, fit_preference, read_pairs, share_right

KIND = ("Thank you for asking, {0} is lovely and I am glad to help you with it, friend.",)
RUDE = ("Nobody cares about {0}, go away and read a manual about machines and engines.",)
THINGS = (
    *("tea", "bread", "rain", "music", "chess", "snow", "wood", "glass", "paper", "salt"),
    *("roses", "boats", "soup", "maps", "clouds", "sand", "wool", "bees", "stars", "milk"),
)


def rows() -> list[dict[str, object]]:
    return [
        {
            "prompt": [{"role": "user", "content": f"What about {each}?"}],
            "chosen": KIND[0].format(each),
            "rejected": RUDE[0].format(each),
        }
        for each in THINGS
    ]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows())
    return path


def test_a_head_learns_a_preference_and_scores_by_it(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "head.npz"
    assert main(["train", "head", str(pairs), "--out", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["pairs"] == report["prompts"] == len(THINGS)
    assert report["low"] < report["accuracy"] == 1.0
    made = scorers.make(f"head:{out}")
    kind, rude = made.score(
        [(prompt("What about paint?"), text[0].format("paint")) for text in (KIND, RUDE)]
    )
    assert 0.0 <= rude < made.location < kind <= 1.0
    assert made.bounds == (0.0, 1.0)
    assert made.in_process
    assert made.name == "head"


def test_the_version_covers_the_file(pairs: Path, tmp_path: Path) -> None:
    model = fit_head(read_pairs(pairs))
    first = tmp_path / "a" / "head.npz"
    second = tmp_path / "b" / "head.npz"
    for path, report in ((first, {}), (second, {"other": 1})):
        path.parent.mkdir()
        model.report.update(report)
        write_preference(model, path)
    assert Head(str(first)).version != Head(str(second)).version
    assert np.array_equal(read_preference(first).weights, model.weights)


def test_another_embedding_is_refused(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where MiniLM is installed, it would be fitted on that.
    monkeypatch.setenv(CACHE_ENV, str(tmp_path))
    path = tmp_path / "head.npz"
    write_preference(fit_head(read_pairs(pairs)), path)
    other = SimpleNamespace(name="other-3", embed=lambda texts: np.zeros((len(texts), 3)))
    with pytest.raises(InputError, match=r"fitted on the embedding 'wordllama-256'.*'other-3'"):
        Head(str(path), other)
    assert Embeddings.name == "wordllama-256"


def test_ratings_with_texts_make_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = tmp_path / "ratings.csv"
    texts = tmp_path / "ratings.texts.jsonl"
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    said = []
    for row, thing in zip(rows(), THINGS, strict=True):
        for name, rating in (("chosen", 5), ("rejected", 1)):
            lines += [f"{thing},{name},r{i},{rating}" for i in range(2)]
            entry = {"prompt_id": thing, "candidate_id": name, "prompt": f"What about {thing}?"}
            said.append(json.dumps({**entry, "response": row[name]}))
    ratings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts.write_text("\n".join(said) + "\n", encoding="utf-8")
    out = tmp_path / "head.npz"
    assert main(["train", "head", str(ratings), "--out", str(out)]) == 0
    assert "right about 1.000 of held-out pairs (95 % interval 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"chosen": "a"}\n', "no chosen and rejected answer"),
        ('{"prompt": "p", "chosen": "a", "rejected": "b"}\n', "there are pairs for 1 prompts"),
        ("a,b\n1,2\n", "missing columns"),
    ],
)
def test_bad_input_is_told_in_a_sentence(
    content: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pairs.jsonl" if content[0] == "{" else tmp_path / "pairs.csv"
    path.write_text(content, encoding="utf-8")
    assert main(["train", "head", str(path), "--out", str(tmp_path / "h.npz")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "h.npz").exists()


def test_what_is_no_head_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "head.npz"
    with pytest.raises(InputError, match="there is no file"):
        Head(str(path))
    path.write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match="is not a file of darc train head"):
        Head(str(path))


def test_the_fit_is_where_the_gradient_vanishes() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1.0, (50, 4))
    weights = fit_preference(differences, 2.0)
    wrong = 1.0 / (1.0 + np.exp(differences @ weights))
    assert np.allclose(2.0 * weights, differences.T @ wrong, atol=1e-6)


def test_pairs_of_one_prompt_widen_the_interval() -> None:
    margins = np.array([1.0] * 12 + [-1.0] * 8)
    alone = share_right(margins)
    share, low, high = share_right(margins, ["a"] * 12 + ["b"] * 8)
    assert share == alone[0] == 0.6
    assert low < alone[1] < alone[2] < high


def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "head.npz"
    write_preference(Preference("potion", np.ones(8), 0.0, 0.5, 0.1), path)
    data = path.read_bytes()
    damaged = [data[:place] for place in range(0, len(data), 97)]
    damaged += [data[:p] + bytes([data[p] ^ 255]) * 9 + data[p + 9 :] for p in range(0, 900, 41)]
    for content in damaged:
        path.write_bytes(content)
        try:
            read_preference(path)
        except InputError as problem:
            assert str(path) in str(problem)  # noqa: PT017


def test_a_file_that_would_take_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "head.npz"
    np.savez_compressed(path, schema=1, weights=np.zeros(2**23), numbers=np.zeros(3))
    with pytest.raises(InputError, match="not a file of darc train head"):
        read_preference(path)
