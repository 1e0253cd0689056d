"""The argument parser: short and long help, and errors of one sentence."""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

# Commands with no more options than this show all of them in --help.
MOST_SHOWN = 12

# What other commands and programs call the model that answers: what to write instead, by the flag
# that a command has.
_GENERATOR = "--generator openai:MODEL@URL"
_SERVER_FLAGS = {
    "--backend": {"--generator": _GENERATOR},
    "--model": {"--generator": _GENERATOR},
    "--base-url": {"--backend": "--backend URL", "--generator": _GENERATOR},
    "--url": {"--backend": "--backend URL", "--generator": _GENERATOR},
    "--api-base": {"--backend": "--backend URL", "--generator": _GENERATOR},
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, and whose help is short."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("add_help", False)
        super().__init__(*args, **kwargs)
        self._common: list[argparse.Action] = []
        self._rare: list[argparse.Action] = []
        self._groups: dict[str, Any] = {}
        self._exclusive_groups: dict[str, Any] = {}
        self.add_argument("-h", "--help", action="help", help="show the most important options")

    def add_option(
        self,
        *flags: str,
        subject: str = "options",
        exclusive: str = "",
        common: bool = True,
        **keywords: Any,
    ) -> None:
        """Add an option under the heading of its subject.

        Args:
            *flags: Its flags, or the name of an argument without a flag.
            subject: The heading in the help text.
            exclusive: A name that options share which exclude each other.
            common: Whether the short help shows it.
            **keywords: What argparse has to know.
        """
        place = self._place(subject, exclusive)
        action = place.add_argument(*flags, **keywords)
        if common:
            self._common.append(action)
        else:
            self._rare.append(action)

    def add_full_help(self) -> None:
        """Add --help-all, once all options are there; a command with few shows them all."""
        options = [action for action in self._common + self._rare if action.option_strings]
        if len(options) <= MOST_SHOWN:
            self._common += self._rare
            self._rare = []
        self.add_argument("--help-all", action=_FullHelp, nargs=0, help="show all options")

    def format_help(self) -> str:
        """The help text without options that few people need."""
        if not self._rare:
            return super().format_help()
        texts = [action.help for action in self._rare]
        for action in self._rare:
            action.help = argparse.SUPPRESS
        try:
            text = super().format_help()
        finally:
            for action, help_text in zip(self._rare, texts, strict=True):
                action.help = help_text
        return f"{text}\nmore options: {self.prog} --help-all\n"

    def format_full_help(self) -> str:
        """The help text with all options."""
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one sentence, and exit with 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse unknown options of a command with the nearest one that is known."""
        arguments, unknown = super().parse_known_args(args, namespace)
        # The parser of all commands does not know the options of any.
        if unknown and " " in self.prog:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._nearest(unknown[0])}")
        return arguments, unknown

    def _nearest(self, argument: str) -> str:
        """The flag that was probably meant, as the end of a sentence."""
        flags = [flag for action in self._common + self._rare for flag in action.option_strings]
        flag = argument.split("=")[0]
        if flag in _SERVER_FLAGS:
            for known_flag, words in _SERVER_FLAGS[flag].items():
                if known_flag in flags:
                    return f"; write {words}"
        close = get_close_matches(argument.split("=")[0], flags, 1, 0.7)
        if not close:
            return ""
        return f"; perhaps {close[0]}"

    def _place(self, subject: str, exclusive: str) -> Any:
        """The group of a subject, or within it that of options which exclude each other."""
        place: Any = self
        if subject != "options":
            if subject not in self._groups:
                self._groups[subject] = self.add_argument_group(subject)
            place = self._groups[subject]
        if not exclusive:
            return place
        if exclusive not in self._exclusive_groups:
            self._exclusive_groups[exclusive] = place.add_mutually_exclusive_group()
        return self._exclusive_groups[exclusive]


class _FullHelp(argparse.Action):
    """Prints the help text with all options."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        assert isinstance(parser, Parser)
        print(parser.format_full_help(), end="")
        parser.exit()
