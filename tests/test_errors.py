import pytest

from darc.errors import DISTRIBUTION, DarcError, InputError, MissingExtra, TableError, UnknownName


def test_errors_are_one_sentence_with_a_hint() -> None:
    assert str(DarcError("it broke", "mend it")) == "it broke; mend it"
    assert str(DarcError("it broke")) == "it broke"
    assert (
        str(TableError("a.csv", "bad cell", "fix it", line=3)) == "a.csv, line 3: bad cell; fix it"
    )
    assert str(TableError("a.csv", "empty")) == "a.csv: empty"


def test_exit_codes() -> None:
    assert DarcError("x").exit_code == 1
    assert MissingExtra("drawing", "plot").exit_code == 1
    assert InputError("x").exit_code == 2
    assert TableError("a", "b").exit_code == 2


def test_kinds_are_also_the_usual_exceptions() -> None:
    assert isinstance(InputError("x"), ValueError)
    assert isinstance(MissingExtra("drawing", "plot"), ImportError)


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        (None, f"{DISTRIBUTION}[plot]"),
        ('{"url": "file:///home/me/darc", "dir_info": {"editable": true}}', "/home/me/darc[plot]"),
        (
            '{"url": "https://example.org/darc.git", "vcs_info": {"vcs": "git"}}',
            f"{DISTRIBUTION}[plot] @ git+https://example.org/darc.git",
        ),
    ],
)
def test_missing_extra_gives_the_install_command(
    origin: str | None, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return origin

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    assert f"pip install '{source}'" in str(MissingExtra("drawing", "plot"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Epsilom", "did you mean 'epsilon'?"), ("xyz", "known: epsilon, mean"), ("maen", "'mean'")],
)
def test_unknown_name_offers_the_nearest(name: str, hint: str) -> None:
    assert hint in str(UnknownName("rule", name, ["mean", "epsilon"]))
