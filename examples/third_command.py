"""Step 3: a command in the sandbox. Inside the workspace it may write; outside it is denied, by evidence."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import anyio

from placet.app.places import Places
from placet.sandbox import Command, Sandbox, SandboxMode, SandboxUnavailable, Selection, WorkspaceRefused, backends
from placet.session import new_session_id


async def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        places = Places.find({**os.environ, "PLACET_HOME": f"{folder}/placet"})
        places.prepare()
        workspace, outside = Path(folder, "workspace"), Path(folder, "note.txt")
        workspace.mkdir()

        selection = Selection(backends(places.state))
        sandbox = Sandbox(places, selection)
        facts = await sandbox.check_workspace(workspace)
        if isinstance(facts, WorkspaceRefused):
            raise SystemExit(facts.why)
        session = new_session_id()
        profile = sandbox.profile(session, facts.workdir, SandboxMode.WORKSPACE_WRITE)

        for script in ("echo hi > inside.txt", f"echo hi > {outside}"):
            try:
                run = await sandbox.run(Command(profile=profile, script=script))
            except SandboxUnavailable as error:
                raise SystemExit(f"no sandbox works here: {error}") from error
            what = "inside" if "inside" in script else "outside"
            print(f"{what}: exit code {run.exit_code}, denied by the sandbox: {run.sandbox.denied}")

        print("written inside:", (workspace / "inside.txt").exists(), "| written outside:", outside.exists())


if __name__ == "__main__":
    anyio.run(main)
