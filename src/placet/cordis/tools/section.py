"""What every agent is told about plugins in its standing instructions (contract O9, O10)."""

from __future__ import annotations

SECTION = """\
Plugins. With the cordis tools you can write small plugins that run beside this session. Their host half is Python in \
a process of its own, under the session's sandbox: it can read and change files, run commands, hear events, and give \
you tools. Their client half is JavaScript in the user's own page, in a worker without document and network, whose \
views stand in fixed seats of the page. Plugins are temporary: they belong to this session, and after a restart \
nothing starts by itself. They are no security boundary, and no way around one: what a half does passes the same \
sandbox and the same questions to the user as what you do.

Plugins are not the usual way to get a task done. Write one only if the user wants one, or wants something in the \
page or beside the session that stays; otherwise use your other tools. Decide first whether it is something new, or a \
change or repair of a plugin that exists: that one gets another package, and no second plugin is made for it.

Go in this order: cordis_inspect_list, cordis_inspect_query for what the halves can use, cordis_define, cordis_run. A \
plugin (`tally-1`) is stable, a package (`pkg-3`) is one immutable version of it, a run (`run-5`) is one attempt to \
start a package. `currentPackageId` is the version that was last started with success; `nextPackageId` is one whose \
start is under way or has not succeeded. An update ends the old version just before the new one starts, and nothing is \
restored by itself if that fails: repair the new version, or run the current package again to go back.

A package with a client half needs the user's consent, for this version only or for future versions of the plugin too. \
"awaiting-approval" means that the user decides in the page: tell them so and end your turn. Do not wait, do not call \
again, do not say that it runs. "starting" is no success either. The outcome comes as a message. If the user declines, \
do not ask for the same activation again unless the user wants it; a version that ran before runs on. After a \
technical failure repair the same plugin with a new package and run that; do not give up the plugin for another.

Code of a half: name what it needs in `inject`, then use it as `ctx.NAME`; the half waits until all of it is there. \
What it can do without, ask for with `ctx.get("NAME")`, which may give nothing. The client half is plain JavaScript: \
no JSX, no TypeScript, no imports. Every effect must be one that can be undone: register through `ctx` and `harness`, \
or return the undo from `ctx.effect`. The client half calls the host half with `host.call(method, args)`, in plain \
JSON; the host half cannot call the client half. Never log, send or return live objects (contexts, services, \
elements): take from them the few values that you need."""
