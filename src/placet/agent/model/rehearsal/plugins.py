"""The plugins that the rehearsal writes. They are what somebody reads first about plugins, so they are kept small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sketch:
    """What the rehearsal defines: a name and a purpose for the person, and the code."""

    prefix: str
    name: str
    purpose: str
    host: str
    client: str | None = None

    def definition(self, plugin: str | None = None) -> dict[str, Any]:
        """The arguments of `cordis_define`: for a new plugin, or for the next version of one."""
        which = {"kind": "new", "idPrefix": self.prefix} if plugin is None else {"kind": "existing", "pluginId": plugin}
        code = {"host": self.host} if self.client is None else {"host": self.host, "client": self.client}
        return {"plugin": which, "name": self.name, "purpose": self.purpose, "code": code}


TALLY = Sketch(
    "tally",
    "Tally",
    "Gives the agent a tool that counts the files of the folder by their endings.",
    '''\
"""Counts the files of the folder by their endings."""

from collections import Counter
from pathlib import PurePath

inject = ["files"]


async def apply(ctx):
    async def count(args):
        listed = await ctx.files.list(".", depth=3)
        names = [entry["name"] for entry in listed["entries"] if entry["kind"] == "file"]
        return dict(Counter(PurePath(name).suffix or "no ending" for name in names))

    nothing = {"type": "object", "properties": {}}
    harness.tool("count", "Count the files of the folder by their endings.", nothing, count)
''',
)

_COUNTING = '''\
"""Tells the view how many files there are."""

inject = ["files"]


async def apply(ctx):
    async def count(args):
        listed = await ctx.files.list(".", depth=3)
        return sum(entry["kind"] == "file" for entry in listed["entries"])

    harness.handle("count", count)
'''

FILES = Sketch(
    "files",
    "File count",
    "Shows at the foot of the sidebar how many files the folder holds.",
    _COUNTING,
    """\
const { createElement: e, useEffect, useState } = React;

return {
  inject: ["slots"],
  apply(ctx) {
    function FileCount() {
      const [count, setCount] = useState("?");
      const ask = () => host.call("count").then(setCount);
      useEffect(() => void ask(), []);
      return e("Row", { gap: 2 },
        e("Text", null, `${count} files in the folder`),
        e("Button", { onPress: ask }, "Count again"));
    }

    ctx.slots.register({ name: "sidebar.footer.action" }, FileCount);
  },
};
""",
)

FILES_AGAIN = Sketch(
    "files",
    "File count",
    "Counts the files again every ten seconds, so that nobody has to press a button.",
    _COUNTING,
    """\
const { createElement: e, useEffect, useState } = React;

return {
  inject: ["slots", "timer"],
  apply(ctx) {
    function FileCount() {
      const [count, setCount] = useState("?");
      const ask = () => host.call("count").then(setCount);
      useEffect(() => void ask(), []);
      useEffect(() => ctx.timer.interval(ask, 10_000), []);
      return e("Text", null, `${count} files in the folder, counted every ten seconds`);
    }

    ctx.slots.register({ name: "sidebar.footer.action" }, FileCount);
  },
};
""",
)

SLIP = Sketch(
    "files",
    "File count",
    FILES.purpose,
    _COUNTING.replace("async def apply(ctx):\n", 'async def apply(ctx):\n    await ctx.file.list(".")\n\n', 1),
    FILES.client,
)
"""The same with a slip of the pen: there is no `ctx.file`."""
