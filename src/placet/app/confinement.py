"""The sandbox as this installation configures it."""

from pathlib import Path

from placet.app.config import Config, SandboxSettings
from placet.app.config import WorkspaceSettings as OfWorkspace
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.sandbox.backend import Backend
from placet.sandbox.backends.bubblewrap import Bubblewrap
from placet.sandbox.backends.landlock import Landlock
from placet.sandbox.backends.seatbelt import Seatbelt
from placet.sandbox.execution.bounds import Bounds
from placet.sandbox.policy import Network
from placet.sandbox.selection import FORCE, Selection
from placet.sandbox.service import Sandbox, Settings, WorkspaceSettings
from placet.sandbox.workspace.hidden import BY_DEFAULT, hidden


def selection_of(config: Config, backend: str | None = None) -> Selection:
    """The backends in order of preference; the configuration, or `backend`, may leave only one of them, or none."""
    wanted, state = backend or config.settings.sandbox.backend, config.places.state
    landlock = Landlock(state, old_kernels=config.settings.sandbox.old_landlock)
    backends: list[Backend] = [Bubblewrap(state), landlock, Seatbelt()]
    return Selection(backends, {} if wanted == "auto" else {FORCE: wanted})


def sandbox_of(config: Config, clock: Clock = SYSTEM_CLOCK, *, backend: str | None = None) -> Sandbox:
    """The one sandbox of this process, with one backend only if it is named."""
    names, shown = _hide_list(config)
    chosen = config.settings.sandbox
    settings = Settings(
        hidden=names,
        shown=shown,
        umask=config.umask,
        network=Network(chosen.network),
        unix_sockets=chosen.unix_sockets,
        bounds=_bounds(chosen),
        control_groups=chosen.control_groups,
        watch=chosen.watch_denials,
        workspaces={Path(path): _of_workspace(own, chosen) for path, own in config.settings.workspaces.items()},
    )
    return Sandbox(config.places, selection_of(config, backend), clock, settings=settings)


def _bounds(chosen: SandboxSettings) -> Bounds:
    if chosen.memory_mib is None:
        return Bounds(processes=chosen.processes)
    return Bounds(processes=chosen.processes, memory=chosen.memory_mib << 20)


def _of_workspace(own: OfWorkspace, chosen: SandboxSettings) -> WorkspaceSettings:
    return WorkspaceSettings(
        Network(own.network or chosen.network),
        chosen.unix_sockets if own.unix_sockets is None else own.unix_sockets,
    )


def hidden_paths(config: Config) -> tuple[Path, ...]:
    """What exists now and is hidden from confined commands, where the backend can hide."""
    names, shown = _hide_list(config)
    return hidden(config.places.state, names=names, shown=shown)


def _hide_list(config: Config) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    chosen = config.settings.sandbox
    home = Path(config.environ.get("HOME", "/"))
    more = (str(_expanded(path, home)) for path in chosen.hide)
    return (*BY_DEFAULT, *more), tuple(_expanded(path, home) for path in chosen.show)


def _expanded(path: str, home: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else Path(path)
