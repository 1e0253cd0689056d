"""`darc models`: the models that run on this machine, and how to get them."""

from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import print_json, say
from darc.settings.lists import ModelInstallSettings, ModelListSettings

if TYPE_CHECKING:
    from darc.models.catalogue import CatalogueEntry
    from darc.models.installed import Installed


def install_model(settings: ModelInstallSettings) -> None:
    """Install a model, and print where it is."""
    from darc.models.catalogue import DEFAULT, lookup
    from darc.models.installing import install

    model = lookup(settings.name or DEFAULT)
    installed = install(model.name, say)
    if settings.as_json:
        print_json(row(model, installed))
    else:
        print(installed.path)


def list_models(settings: ModelListSettings) -> None:
    """Print every model that can be installed."""
    from darc.models.catalogue import CATALOGUE
    from darc.models.installed import find

    for model in CATALOGUE.values():
        installed = find(model.name)
        if settings.as_json:
            print_json(row(model, installed))
        else:
            _print_model(model, installed)


def _print_model(model: "CatalogueEntry", installed: "Installed | None") -> None:
    """Print what a model is, and where it is installed."""
    print(f"{model.name}: {model.summary}")
    print(f"    licence {model.licence}, {model.size / 1e6:.0f} MB, from {model.requirement}")
    print(f"    sha256 {model.sha256}")
    if installed is None:
        print(f"    not installed; run: darc models install {model.name}")
        return
    print(f"    installed as {installed.quantisation}: {installed.path}")
    if installed.changed:
        print(f"    changed on disk; run: darc models install {model.name}")
    else:
        print(f"    sha256 {installed.sha256}, {installed.size / 1e6:.0f} MB")


def row(model: "CatalogueEntry", installed: "Installed | None") -> dict[str, Any]:
    """What is known about a model, for JSON."""
    fields: dict[str, Any] = {
        "name": model.name,
        "summary": model.summary,
        "licence": model.licence,
        "source": model.requirement,
        "size": model.size,
        "sha256": model.sha256,
        "installed": installed is not None,
        "path": None,
        "quantisation": None,
        "installed_size": None,
        "installed_sha256": None,
        "changed": False,
    }
    if installed is not None:
        fields["path"] = str(installed.path)
        fields["quantisation"] = installed.quantisation
        fields["installed_size"] = installed.size
        fields["changed"] = installed.changed
        if not installed.changed:
            fields["installed_sha256"] = installed.sha256
    return fields


ACTIONS = {
    "install": Command(ModelInstallSettings, install_model),
    "list": Command(ModelListSettings, list_models),
}
