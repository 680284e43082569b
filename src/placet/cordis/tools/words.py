"""What the model reads about the seven tools: their descriptions, their parameters, and the first line of each result.

Contract O11 and O12: a description tells what must be there before, what the call does, when its outcome is known, and
what comes next.
"""

from __future__ import annotations

DEFINE = """\
Write down code as a new, immutable package of a plugin. Nothing runs, nobody is asked, and no version pointer moves:
the call checks the text of both halves and returns the ids that `cordis_run` takes. A refused call leaves no trace.

Use `plugin: {kind: "new", idPrefix}` for something that does not exist yet, and `{kind: "existing", pluginId}` for
every later version of it, also to repair it. Each call adds a package; earlier ones stay as they are and can be run
again. Look up what the halves can use with `cordis_inspect_list` and `cordis_inspect_query` before you write them.
"""

RUN = """\
Start a package that `cordis_define` has returned. `mode` is "run" where nothing of the plugin is current, or where the
package is the current one (which restarts it); it is "update" where another package is current.

A package with only a host half starts inside the call, and the result says "running" or "waiting". A package with a
client half does not: code enters the user's own page, so a person decides about it. The call then returns at once,
with `ok: true` and a status that is no success yet: "awaiting-approval" (the user has to decide in the page) or
"starting" (the user has agreed to it before). The outcome arrives later, as a message. Until it does: do not wait for
it, do not call again, do not say that it runs. Tell the user what waits for them, and end your turn.
"""

STOP = """\
Stop what runs of a plugin, and withdraw a request of it that still waits for the user. The call returns when nothing
of it is left running. Packages, consents and version pointers stay, so `cordis_run` can start it again. A plugin that
does not run is stopped already, which is a success. To forget a plugin altogether use `cordis_undefine`.
"""

UNDEFINE = """\
Stop a plugin and forget it: all its packages, the user's consents to them and its version pointers. This cannot be
undone, and its id is never used again. To end only what runs, and keep its versions, use `cordis_stop`.
"""

INSPECT_LIST = """\
List the providers that tell what code in a plugin can use, on the host side and on the client side, each with its
methods and their input and output schemas. It changes nothing. Ask one of them with `cordis_inspect_query`.
"""

INSPECT_QUERY = """\
Ask one method of an inspect provider, as `cordis_inspect_list` names them. Without input the directories are short;
with the exact key of an entry they give its whole contract and only the types that it speaks of. It changes nothing.
"""

INSPECT_SELF = """\
See the plugins of this session as they are now. Without arguments: all of them in short. With `pluginId`: its packages
too. With `pluginId` and `packageId`: the source of that package, and how its halves run. It changes nothing. Read a
package before you write its next version.
"""

PLUGIN = "The plugin that the package belongs to: a new one, or one of this session."
ID_PREFIX = 'Three to six lowercase letters, such as "tally"; a number is added.'
PLUGIN_ID = 'The id of the plugin, such as "tally-1".'
PACKAGE_ID = 'The id of the package, such as "pkg-1".'
NAME = "A short name for the user, such as 'File count'."
PURPOSE = "One sentence for the user on what this version does and why."
CODE = "The two halves, together at most 512 KiB; at least one of them, and none that is empty."
HOST_HALF = "Python source with `async def apply(ctx)`, and `inject = [...]` for the services that it needs."
CLIENT_HALF = (
    "Plain JavaScript, no JSX and no TypeScript: the body of an async function that returns {inject, apply(ctx)}."
)
MODE = '"run" to start or restart, "update" to replace the current package by another one.'
PROVIDER = "The id of a provider, such as 'Service'."
METHOD = "The name of one of its methods, such as 'listService'."
INPUT = "What the method's input schema asks for; nothing if left out."


def defined(plugin: str, package: str) -> str:
    """Say that a package is there and does not run."""
    return f"{plugin}/{package} is defined. It does not run yet: start it with cordis_run when it should."


def awaiting(plugin: str, package: str, run: str) -> str:
    """Say that a person has to decide first."""
    return (
        f"{plugin}/{package} awaits the user's approval ({run}). Nothing of it runs yet. Tell the user to decide in the"
        " page, and end your turn: a message brings the outcome. Do not wait, do not call again, do not say it runs."
    )


def starting(plugin: str, package: str, run: str) -> str:
    """Say that it starts without a card, and that this is no success yet."""
    return (
        f"{plugin}/{package} is starting asynchronously ({run}). This is no success yet: a message brings the outcome."
    )


def running(plugin: str, package: str, run: str, waiting_for: list[str]) -> str:
    """Say that it runs, or for what it waits."""
    if not waiting_for:
        return f"{plugin}/{package} is running ({run})."
    names = ", ".join(waiting_for)
    return f"{plugin}/{package} has started and waits for {names} ({run}). It goes on by itself when that is there."


def stopped(plugin: str, *, was_running: bool) -> str:
    """Say that nothing runs, and what is kept."""
    what = "stopped" if was_running else "not running"
    return f"{plugin} is {what}. Its packages, consents and version pointers are kept; cordis_run starts it again."


def removed(plugin: str) -> str:
    """Say that nothing is left."""
    return f"{plugin} is removed, with all its packages and the user's consents to them."


def no_plugin(plugin: str, known: str) -> str:
    """Say that the session has no such plugin, whoever else has it (H6)."""
    return f"there is no plugin {plugin!r} in this session: it was removed, or never was. Its plugins are: {known}."


def no_package(plugin: str, package: str, known: str) -> str:
    """Say that the plugin has no such package."""
    return f"the plugin {plugin} has no package {package!r}; its packages are: {known}."
