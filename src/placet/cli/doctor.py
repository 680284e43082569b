"""`placet doctor`: what this machine can hold, and what that means."""

from typing import Annotated, Any

from cyclopts import Parameter

from placet.cli import process
from placet.cli.output import say, say_json

_MEANING = {
    "full": "Commands are held completely: what they may not write, they cannot write.",
    "partial": "Commands are held in most things; what is not held is listed below.",
    "untested": "Whether commands are held was never tried on such a machine.",
}


def doctor(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> int:
    """Say which sandbox this machine has and what it means; ends with 1 where nothing can confine commands."""
    from placet import __version__
    from placet.app.confinement import hidden_paths, selection_of

    config = process.configuration({})
    config.places.prepare()
    report: dict[str, Any] = {
        "version": __version__,
        "state": str(config.places.state),
        "config": str(config.places.config_file),
        "sandbox": selection_of(config).report(),
        "hidden": [str(path) for path in hidden_paths(config)],
    }
    if json:
        say_json(report)
    else:
        _print(report)
    return 0 if report["sandbox"]["chosen"] else 1


def _print(report: dict[str, Any]) -> None:
    sandbox = report["sandbox"]
    say(f"placet {report['version']}")
    say(f"state directory     {report['state']}")
    say(f"configuration file  {report['config']}")
    say()
    if sandbox["chosen"] is None:
        say("Sandbox: none. No command runs confined here; placet refuses them instead of running them freely.")
    else:
        say(f"Sandbox: {sandbox['chosen']}")
    for backend in sandbox["backends"]:
        _print_backend(backend, chosen=backend["name"] == sandbox["chosen"])
    if report["hidden"]:
        say()
        say("Hidden from confined commands, where the sandbox can hide:")
        for path in report["hidden"]:
            say(f"  {path}")


def _print_backend(backend: dict[str, Any], *, chosen: bool) -> None:
    state = "usable" if backend["usable"] else "not usable"
    say(f"  {backend['name']}: {state}{'' if backend['usable'] else ': ' + str(backend['why'])}")
    if backend["usable"]:
        say(f"    {_MEANING[backend['enforcement']]}")
    if chosen:
        for limit in backend["not_governed"]:
            say(f"    Not held: {limit}")
    if not backend["usable"] and backend.get("hint"):
        say(f"    To mend it: {backend['hint']}")
