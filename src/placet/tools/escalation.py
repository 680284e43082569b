"""What tools that can ask for a wider mode have in common: their two fields, and the profile that a call runs in."""

from __future__ import annotations

from pathlib import Path

from placet.approval.outcome import Policy
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Profile, Workdir
from placet.sandbox.service import Sandbox
from placet.tools.tool import Arguments, CallContext, Stakes


def unpaired(args: Arguments, noun: str) -> str | None:
    """Return what is wrong with the two fields of a wider mode, or None (C12)."""
    if "sandbox_permissions" in args and "justification" not in args:
        return f"sandbox_permissions needs a justification: one sentence that says why this {noun} has to do more"
    if "justification" in args and "sandbox_permissions" not in args:
        return "justification stands alone: send it only together with sandbox_permissions"
    if "justification" in args and not args["justification"].strip():
        return f"justification is blank: say in one sentence why this {noun} has to do more"
    return None


def wished(args: Arguments) -> Stakes | None:
    """Return the wider mode that a call wishes for, with the model's words."""
    if "sandbox_permissions" not in args:
        return None
    return Stakes(SandboxMode(args["sandbox_permissions"]), args["justification"])


def offers_escalation(mode: SandboxMode, policy: Policy, *, confines: bool) -> bool:
    """Whether what was denied may be sent again with a wider mode, because a person would be asked."""
    return confines and mode.confines and policy is Policy.ASK


def profile_of(sandbox: Sandbox, call: CallContext) -> Profile:
    """Return what a call may touch: the session's own folder, as it was when the session was created."""
    created = call.log.events[0].data
    device, _, inode = created["cwdId"].partition(":")
    workspace = Workdir(Path(created["cwd"]), int(device), int(inode))
    git_roots = [Path(root) for root in created["gitRoots"]]
    return sandbox.profile(call.session, workspace, call.mode, git_roots=git_roots, escalated=call.escalated)
