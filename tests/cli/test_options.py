from darc.cli.options import file_keys, is_negation, takes_several, value_types
from darc.settings.model import SettingsModel, option


class Example(SettingsModel):
    names: tuple[str, ...] = option((), "names", flag="--name")
    guard: bool = option(True, "do not guard", flag="--no-guard")
    as_json: bool = option(False, "print JSON", flag="--json")
    source: str | None = option(None, "a file", positional=True)


def test_a_file_has_the_names_of_fields_and_of_flags() -> None:
    assert file_keys(Example) == {
        "names": "names",
        "name": "names",
        "guard": "guard",
        "no_guard": "guard",
        "as_json": "as_json",
        "json": "as_json",
    }


def test_only_the_flag_of_what_is_on_by_default_is_a_negation() -> None:
    fields = Example.model_fields
    assert is_negation("no_guard", "guard", fields["guard"])
    assert not is_negation("guard", "guard", fields["guard"])
    assert not is_negation("json", "as_json", fields["as_json"])
    assert not is_negation("name", "names", fields["names"])


def test_the_type_of_one_value_is_that_of_the_members() -> None:
    fields = Example.model_fields
    assert takes_several(fields["names"])
    assert not takes_several(fields["source"])
    assert value_types(fields["names"].annotation) == (str,)
    assert value_types(fields["source"].annotation) == (str,)
