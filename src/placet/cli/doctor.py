"""`placet doctor`: what this machine can hold, and what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from placet.cli import process
from placet.cli.output import say, say_json, show
from placet.cli.visible import visible_line

if TYPE_CHECKING:
    from placet.app.config import Config
    from placet.sandbox.backend import Backend, ProbeResult
    from placet.sandbox.execution.allowance import Allowances
    from placet.sandbox.selection import Selection

_MEANING = {
    "full": "Commands are held completely: what they may not write, they cannot write.",
    "partial": "Commands are held in most things, but not in all.",
    "untested": "Whether commands are held was never tried on such a machine.",
}


_WATCHED = {
    False: "A denial of which a command says nothing goes unnoticed; sandbox.watch_denials = true looks for it.",
    True: "What commands try to write is watched (sandbox.watch_denials), which makes each such call a little slower.",
}


def doctor(*, json: Annotated[bool, Parameter(help="Print the backends as JSON.")] = False) -> int:
    """Say which sandbox this machine has and what it means; ends with 1 where nothing can confine commands."""
    from placet.app.confinement import selection_of

    config = process.configuration({})
    config.places.prepare()
    selection = selection_of(config)
    if json:
        say_json(selection.report())
    else:
        _print(config, selection)
    return 0 if selection.choose() else 1


def _print(config: Config, selection: Selection) -> None:
    from placet import __version__
    from placet.app.confinement import hidden_paths, sandbox_of

    say(f"placet {__version__}")
    show(f"state directory     {visible_line(str(config.places.state))}")
    show(f"configuration file  {visible_line(str(config.places.config_file))}")
    say()
    chosen = selection.choose()
    if chosen is None:
        say("Sandbox: none. No command runs confined here; placet refuses them instead of running them freely.")
        if config.settings.sandbox.backend == "none":
            say('  That is the setting: "none". To mend it: take PLACET_SANDBOX, or backend under [sandbox], away.')
    else:
        say(f"Sandbox: {chosen.name}")
        if chosen.name == "landlock":
            say(f"  {_WATCHED[config.settings.sandbox.watch_denials]}")
    for backend, result in selection.tried():
        _print_backend(backend, result, chosen=backend is chosen)
    _print_bounds(sandbox_of(config).allowances, chosen)
    hidden = hidden_paths(config)
    if hidden:
        say()
        say("Hidden from confined commands, where the sandbox can hide:")
        for path in hidden:
            show(f"  {visible_line(str(path))}")
    _print_doors(config)
    if (root := process.as_root()) is not None:
        say()
        say(root)


def _print_backend(backend: Backend, result: ProbeResult, *, chosen: bool) -> None:
    name = f"{backend.name} {result.version}".strip()
    say(f"  {name}: {'usable' if result.usable else f'not usable: {result.why}'}")
    if result.usable:
        say(f"    {_MEANING[backend.enforcement]}{'' if chosen else ' It is not used: the one above comes first.'}")
    if chosen:
        for limit in backend.not_governed:
            say(f"    Not held: {limit}")
    if not result.usable and result.hint:
        say(f"    To mend it: {result.hint}")


def _print_bounds(allowances: Allowances, chosen: Backend | None) -> None:
    from placet.sandbox.linux.cgroup import NoGroups

    bounds, groups = allowances.bounds, allowances.groups()
    say(f"Bounds: {bounds}. What has more is killed, with all that it has started.")
    if not isinstance(groups, NoGroups):
        say(
            f"  Kept by the kernel, in a control group for each command ({bounds.tasks} processes and threads at most)."
        )
        return
    say("  Kept by placet, which looks twice a second, and at once when much is started or much memory goes.")
    if chosen is not None and chosen.counts_tasks:
        say(f"  The kernel refuses more than {bounds.tasks} processes and threads of one command.")
    say(f"  No control groups: {groups.why}.")
    if groups.hint:
        say(f"    To mend it: {groups.hint}")


def _print_doors(config: Config) -> None:
    from pathlib import Path

    from placet.app.doors import doors

    found = doors(Path(config.environ.get("HOME", "/")))
    say()
    if not found:
        say("No door is known here that leads out of any sandbox while the network is open.")
        return
    say('Doors that lead out of any sandbox while the network is open (network = "none" closes them):')
    for door in found:
        key = "" if door.key is None else f": {visible_line(str(door.key))}"
        show(f"  {door.where}: {door.what}{key}")
