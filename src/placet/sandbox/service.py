"""The face of the room: everything that starts a process goes through here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.kernel.signal import AbortSignal
from placet.session.ids import SessionId

from . import denial, process
from .backend import Backend
from .companion import Companion
from .errors import HelperStopped, SandboxUnavailable, WorkdirChanged, WorkdirUnusable
from .execution import environment, unconfined
from .execution.allowance import Allowances
from .execution.bounds import Bounds
from .execution.output import Captured
from .execution.storage import Storage
from .helper import Failure, Found, Helper, Helpers, Inquiry, Verb
from .helper.judging import judged, request
from .live import Live
from .mode import SandboxMode
from .policy import Network, Profile, Workdir
from .process import Command, Facts, Run
from .selection import Selection
from .workspace import check
from .workspace.check import WorkspaceFacts, WorkspaceRefused
from .workspace.hidden import BY_DEFAULT, hidden
from .workspace.quarantine import move_away
from .workspace.watch import Watches


class StatePlaces(Protocol):
    """What the room needs to know of the places of an installation."""

    @property
    def state(self) -> Path: ...

    @property
    def config_file(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """What a person has set for one workspace."""

    network: Network = Network.OPEN
    unix_sockets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the configuration says about commands."""

    hidden: tuple[str, ...] = BY_DEFAULT
    shown: tuple[Path, ...] = ()
    umask: int = -1
    bounds: Bounds = field(default_factory=Bounds)
    control_groups: bool = True
    watch: bool = False
    network: Network = Network.OPEN
    unix_sockets: bool = False
    workspaces: Mapping[Path, WorkspaceSettings] = field(default_factory=dict)

    def of(self, workspace: Path) -> WorkspaceSettings:
        """What holds for one workspace."""
        return self.workspaces.get(workspace) or WorkspaceSettings(self.network, self.unix_sockets)


class Sandbox:
    """Runs commands within their profiles. One per server."""

    def __init__(
        self,
        places: StatePlaces,
        selection: Selection,
        clock: Clock = SYSTEM_CLOCK,
        *,
        settings: Settings | None = None,
    ) -> None:
        self._places, self._selection, self._clock = places, selection, clock
        self._settings = settings or Settings()
        self._storage = Storage(places.state)
        self._watches = Watches()
        self._full_access_ran = False
        self._helpers = Helpers(self._helper, clock)
        self._live = Live()
        self._allowances = Allowances(self._settings.bounds, groups=self._settings.control_groups)

    @property
    def selection(self) -> Selection:
        return self._selection

    @property
    def allowances(self) -> Allowances:
        """What one confined command may have at once, and who sees to it."""
        return self._allowances

    @property
    def full_access_ran(self) -> bool:
        """Whether a command has run with full access since this process started."""
        return self._full_access_ran

    def profile(
        self,
        session: SessionId,
        workspace: Workdir,
        mode: SandboxMode,
        *,
        git_roots: Iterable[Path] = (),
        escalated: bool = False,
    ) -> Profile:
        """What one call in that mode may touch. Looks at what there is to hide now."""
        state = self._places.state
        here = self._settings.of(workspace.path)
        own = check.own_code(workspace.path, state, self._places.config_file)
        return Profile(
            mode=mode,
            session=session,
            workspace=workspace,
            temp=self.temp_dir(session),
            git_roots=tuple(git_roots),
            hidden=hidden(state, names=self._settings.hidden, shown=self._settings.shown) if mode.confines else (),
            protected=own,
            network=here.network,
            unix_sockets=here.unix_sockets,
            escalated=escalated,
        )

    async def run(self, command: Command) -> Run:
        """Run a command and return when nothing of it is left.

        It waits while a run that has the workspace alone goes on. Raises `SandboxUnavailable` if nothing can confine it
        (it did not run), `WorkdirUnusable`, `WorkdirChanged` or `StartFailed`.
        """
        workspace = command.profile.workspace.path
        if command.covered and command.lasts:
            with self._live.keeping(workspace, [file.path for file in command.covered]):
                return await self._run(command)
        if command.covered:
            return await self._run(command)
        async with self._live.beside(workspace, command.signal) as admitted:
            if admitted:
                return await self._run(replace(command, profile=self._kept(command.profile)))
        return Run(None, None, False, True, Captured(), Captured(), Facts(command.profile.mode), 0)

    def _kept(self, profile: Profile) -> Profile:
        """The profile, with what others need as it is protected."""
        kept = self._live.kept(profile.workspace.path)
        return replace(profile, protected=(*profile.protected, *kept)) if kept else profile

    async def _run(self, command: Command) -> Run:
        profile = command.profile
        env = environment.build(profile, str(profile.temp))
        spill = self._storage.spills(profile.session)
        if not profile.mode.confines:
            self._full_access_ran = True
            facts = Facts(profile.mode)
            return await process.run(command, unconfined.spawn, facts, env=env, spill=spill, umask=self._settings.umask)
        backend = await self._backend()
        facts = Facts(profile.mode, enforcement=backend.enforcement, backend=backend.name)
        done = await self._confined(command, backend, facts, env)
        return await to_thread.run_sync(denial.judged, done, command, backend) if denial.possible(done) else done

    async def inquire(self, inquiry: Inquiry) -> Found | Failure:
        """Have the confined helper look at files or change them, under the profile of a call.

        Raises `SandboxUnavailable`, `WorkdirUnusable` or `WorkdirChanged` where it could not start, and
        `HelperOverran`, `HelperStopped` or `HelperFailed` where it was ended.
        """
        profile = inquiry.profile
        backend = await self._backend() if profile.mode.confines else None
        if inquiry.verb.writes and not profile.mode.confines:
            self._full_access_ran = True
        if not inquiry.verb.writes:
            return await self._asked(inquiry, backend)
        async with self._live.beside(profile.workspace.path, inquiry.signal) as admitted:
            if admitted:
                return await self._asked(replace(inquiry, profile=self._kept(profile)), backend)
        raise HelperStopped("The turn was stopped before this was done")

    async def _asked(self, inquiry: Inquiry, backend: Backend | None) -> Found | Failure:
        try:
            handed = await to_thread.run_sync(self._spilled, inquiry)
        except OSError as error:
            return Failure("NOT_FOUND", f"{inquiry.arguments['path']}: {error.strerror}", inquiry.arguments["path"])
        try:
            return await self._answered(inquiry, backend, handed)
        finally:
            if handed is not None:
                os.close(handed)

    def _spilled(self, inquiry: Inquiry) -> int | None:
        """A descriptor of the spill that is to be read, which no helper can open by itself; None where it is none."""
        if inquiry.verb is not Verb.READ:
            return None
        return self._storage.spilled(inquiry.profile.session, inquiry.arguments["path"])

    async def _answered(self, inquiry: Inquiry, backend: Backend | None, handed: int | None) -> Found | Failure:
        message = await to_thread.run_sync(request, inquiry, self._places.state, handed)
        folder = inquiry.folder
        if folder is None:
            folder = await to_thread.run_sync(Workdir.of, inquiry.profile.workspace.path)
        answer = await self._helpers.ask(inquiry, folder, message)
        return await to_thread.run_sync(judged, answer, inquiry, backend)

    async def companion(self, profile: Profile, program: str, bounds: Bounds) -> Companion:
        """Start a confined Python that lives until its `end`; the caller ends it.

        Raises `SandboxUnavailable` if nothing can confine it, `WorkdirUnusable`, `WorkdirChanged` or `StartFailed`.
        """
        backend = await self._backend() if profile.mode.confines else None
        if backend is None:
            self._full_access_ran = True
        spawn = unconfined.spawn if backend is None else backend.spawn
        env = environment.build(profile, str(profile.temp))
        allowance = await self._allowances.allow(bounds)
        return await Companion.start(spawn, profile, program, env, allowance, self._settings.umask)

    def beside(self, workspace: Path, signal: AbortSignal | None = None) -> AbstractAsyncContextManager[bool]:
        """Count as something that runs in a workspace until the block ends; waits while one run has it alone.

        False if the stop came first.
        """
        return self._live.beside(workspace, signal)

    def alone(self, workspace: Path) -> AbstractContextManager[bool]:
        """Have a workspace alone until the block ends; False, and nothing is held, if something runs in it now."""
        return self._live.alone(workspace)

    @property
    def watches(self) -> Watches:
        """What calls make in workspaces that other programs of the person would run."""
        return self._watches

    def move_away(self, session: SessionId, workspace: Workdir, git_roots: Sequence[Path], path: Path) -> Path:
        """Move something of the workspace into the state directory; returns where it is now.

        Blocks, for a copy if they lie on two file systems. Raises `MoveFailed`, `WorkdirUnusable` or `WorkdirChanged`.
        """
        return move_away(workspace, git_roots, workspace.path / path, self._storage.quarantine(session))

    async def probe_write(self, session: SessionId, workspace: Workdir) -> str | None:
        """Try a write in the workspace, confined; None if it works, else one line that says why and names the owner."""
        profile = self.profile(session, workspace, SandboxMode.WORKSPACE_WRITE)
        try:
            done = await self.run(Command(profile=profile, script=check.WRITE_PROBE, timeout_ms=10_000))
        except (WorkdirUnusable, WorkdirChanged):
            return check.not_writable(workspace.path)
        return None if done.exit_code == 0 else check.not_writable(workspace.path)

    async def check_workspace(self, path: Path) -> WorkspaceFacts | WorkspaceRefused:
        """Whether a folder may be a session's workspace: its facts, or the one line that says why not."""
        backend = await to_thread.run_sync(self._selection.choose)
        found = await to_thread.run_sync(check.check, path, self._places.state, self._places.config_file)
        if isinstance(found, WorkspaceFacts) and found.read_only and (backend is None or not backend.protects):
            return WorkspaceRefused(
                f"The folder {found.workdir.path} holds placet's own program ({found.read_only[0]}), which only"
                " bubblewrap can keep read-only: install bubblewrap, or choose another folder"
            )
        return found

    def temp_dir(self, session: SessionId) -> Path:
        """The session's private temp directory, made if it is missing."""
        return self._storage.temp(session)

    def forget_session(self, session: SessionId) -> None:
        """Remove the session's temp directory and spills, with whatever commands have put there."""
        self._storage.remove(session)

    async def release(self, session: SessionId) -> None:
        """End what is kept warm for a session."""
        await self._helpers.forget(session)

    async def aclose(self) -> None:
        """End what is kept warm for all sessions."""
        await self._helpers.aclose()

    def sweep(self) -> None:
        """Clean up what a killed server left behind. To be called once at start."""
        for verdict in self._selection.verdicts():
            verdict.backend.sweep()
        self._allowances.sweep()

    async def _helper(self, profile: Profile, folder: Workdir) -> Helper:
        """Start a helper as a command of that profile would be started."""
        spawn = (await self._backend()).spawn if profile.mode.confines else unconfined.spawn
        env = environment.build(profile, str(profile.temp))
        return await Helper.start(spawn, profile, folder, env, self._settings.umask)

    async def _backend(self) -> Backend:
        backend = self._selection.chosen() or await to_thread.run_sync(self._selection.choose)
        if backend is None:
            why, hint = await to_thread.run_sync(self._selection.refusal)
            self._selection.forget()
            raise SandboxUnavailable(why, hint)
        return backend

    async def _confined(self, command: Command, backend: Backend, facts: Facts, env: Mapping[str, str]) -> Run:
        spill = self._storage.spills(command.profile.session)
        kept = self._settings
        try:
            done = await process.run(
                command, backend.spawn, facts, env=env, spill=spill, umask=kept.umask, allow=self._allowances.allow,
                watch=kept.watch,
            )  # fmt: skip
        except SandboxUnavailable:  # it is not what it was at its trial: the next call tries anew
            self._selection.forget()
            raise
        if done.sandbox.runner_failed is not None:
            self._selection.forget()
        return done
