"""What pools are called, in tasks and in folders."""

import re
from dataclasses import dataclass

from darc.reproduce.experiment import BASE


@dataclass(frozen=True)
class PoolName:
    """The candidates of one source for one benchmark."""

    generator: str
    benchmark: str
    source: str = ""

    def __str__(self) -> str:
        return " / ".join(part for part in (self.generator, self.benchmark, self.source) if part)

    @property
    def cell(self) -> tuple[str, str]:
        """The generator and the benchmark."""
        return self.generator, self.benchmark

    @property
    def base(self) -> "PoolName":
        """The pool of the generator before any training."""
        return PoolName(self.generator, self.benchmark, BASE)

    def with_family(self, family: str, usual: str) -> str:
        """The name with a family of rewrites, where it is not the usual one."""
        if family in ("", usual):
            return str(self)
        return f"{self} / {family}"


def folder_name(text: str) -> str:
    """A name as a folder: small letters, digits, points and dashes."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
