"""The five file tools. The server opens nothing for them: the confined helper does, under the profile of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from placet.approval.subject import CoveredFile
from placet.sandbox.errors import HelperOverran, PathLeadsAway
from placet.sandbox.helper import Failure, Found, Inquiry, Verb
from placet.sandbox.service import Sandbox
from placet.session.codec import escape
from placet.tools.escalation import offers_escalation, profile_of, unpaired, wished
from placet.tools.files import arguments, text, words
from placet.tools.schema import complaints, schema
from placet.tools.tool import Arguments, CallContext, Stakes, Tool, ToolOutput

SECONDS, SEARCH_SECONDS = 10.0, 15.0
"""How long an operation may take before its helper is killed."""


class FileTool(Tool):
    """What the five have in common; `confines` says whether a backend confines on this machine now."""

    verb: Verb
    model: type[arguments.FileArguments]
    words: str
    seconds = SECONDS

    def __init__(self, sandbox: Sandbox, *, confines: Callable[[], bool]) -> None:
        self._sandbox, self._confines = sandbox, confines

    @property
    def noun(self) -> str:
        """What a call is called where it is refused (D18)."""
        return "operation"

    @property
    def description(self) -> str:
        """What the model reads; the part on more access only where there is any to ask for."""
        return self.words + (words.ESCALATION if self._confines() else "")

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema."""
        return schema(self._model())

    def _model(self) -> type[BaseModel]:
        return arguments.with_wider(self.model) if self._confines() else self.model

    def check(self, args: Arguments) -> str | None:
        """Return the first complaints about the arguments."""
        try:
            self._model().model_validate(args)
        except ValidationError as failure:
            return complaints(failure)
        return unpaired(args, self.noun)

    def stakes(self, args: Arguments) -> Stakes | None:
        """Return the wider mode that the call wishes for."""
        return wished(args)

    def parallel(self, args: Arguments) -> bool:
        """What only looks disturbs nobody; what writes waits for its turn."""
        return not self.verb.writes

    def asked(self, given: Any) -> dict[str, Any]:
        """Return what the helper is asked, from the checked arguments."""
        raise NotImplementedError

    def told(self, data: text.Data) -> tuple[str, dict[str, Any]]:
        """Return the text and the value of what the helper did."""
        raise NotImplementedError

    async def covers(self, args: Arguments, call: CallContext) -> tuple[CoveredFile, ...]:
        """Refuse a path that would be another one than the person reads, before anybody is asked about full access."""
        wish = wished(args)
        if wish is not None and not wish.to_mode.confines:
            place = Inquiry(
                profile=profile_of(self._sandbox, call),
                verb=Verb.LOCATE,
                arguments={"path": args.get("path", ".")},
                signal=call.signal,
            )
            came = await self._sandbox.inquire(place)
            if isinstance(came, Found) and not came.data["straight"]:
                real = text.clean(came.data["path"])
                raise PathLeadsAway(f"{args['path']} leads through a symlink; name the file by its real path, {real}")
        return ()

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Have it done in the mode of the call."""
        given = self.model.model_validate({name: args[name] for name in self.model.model_fields if name in args})
        inquiry = Inquiry(
            profile=profile_of(self._sandbox, call),
            verb=self.verb,
            arguments=self.asked(given),
            seconds=self.seconds,
            signal=call.signal,
            straight=call.escalated and not call.mode.confines,
            folder=call.workdir,
        )
        meta = {"cwd": escape(str(call.workdir.path))}
        facts = {"mode": call.mode.value, "denied": False}
        try:
            came = await self._sandbox.inquire(inquiry)
        except HelperOverran as overran:
            said = f"Error: {words.TOO_LONG.format(seconds=inquiry.seconds)}"
            return ToolOutput(said, {"kind": "file", "sandbox": facts}, is_error=True, code=overran.code, meta=meta)
        if isinstance(came, Failure):
            offers = offers_escalation(call.mode, call.policy, confines=self._confines())
            said = text.failed(came, call.mode, offers=offers)
            where = {"path": text.clean(came.path)} if came.path and self.verb.writes else {}  # of a denied writing
            facts = {**facts, "denied": came.denied, **where}
            return ToolOutput(said, {"kind": "file", "sandbox": facts}, is_error=True, code=came.code, meta=meta)
        said, value = self.told(text.clean(came.data))
        return ToolOutput(said, {"kind": "file", **value, "sandbox": facts}, meta=meta)


class ReadFile(FileTool):
    """Reads a text file by its lines."""

    name = "read_file"
    verb, model, words = Verb.READ, arguments.Read, words.READ

    def asked(self, given: arguments.Read) -> dict[str, Any]:
        """Return the place and the lines."""
        return {"path": given.path, "first": given.offset, "count": given.limit}

    def told(self, data: text.Data) -> tuple[str, dict[str, Any]]:
        """Return the lines; the value has no content, which the text holds already."""
        value = {"path": data["path"], "first": data["first"], "lines": len(data["lines"]), "more": data["more"]}
        return text.read(data), {**value, "size": data["size"]}


class WriteFile(FileTool):
    """Writes a whole text file."""

    name = "write_file"
    verb, model, words = Verb.WRITE, arguments.Write, words.WRITE

    def asked(self, given: arguments.Write) -> dict[str, Any]:
        """Return the place and the text."""
        return {"path": given.path, "text": given.content}

    def told(self, data: text.Data) -> tuple[str, dict[str, Any]]:
        """Return what changed."""
        return _written(data)


class EditFile(FileTool):
    """Replaces a piece of a text file."""

    name = "edit_file"
    verb, model, words = Verb.EDIT, arguments.Edit, words.EDIT

    def asked(self, given: arguments.Edit) -> dict[str, Any]:
        """Return the place and the two texts."""
        return {"path": given.path, "old": given.old_text, "new": given.new_text, "all": given.replace_all}

    def told(self, data: text.Data) -> tuple[str, dict[str, Any]]:
        """Return what changed."""
        said, value = _written(data)
        return said, {**value, "replaced": data["replaced"]}


class ListFiles(FileTool):
    """Lists a folder."""

    name = "list_files"
    verb, model, words = Verb.LIST, arguments.List, words.LIST

    def asked(self, given: arguments.List) -> dict[str, Any]:
        """Return the folder and the depth."""
        return {"path": given.path, "depth": given.depth}

    def told(self, data: text.Data) -> tuple[str, dict[str, Any]]:
        """Return the entries."""
        return text.listed(data), {"path": data["path"], "entries": data["entries"], "complete": data["complete"]}


class SearchFiles(FileTool):
    """Searches files for a regular expression."""

    name = "search_files"
    verb, model, words = Verb.SEARCH, arguments.Search, words.SEARCH
    seconds = SEARCH_SECONDS

    def asked(self, given: arguments.Search) -> dict[str, Any]:
        """Return the expression and where to look; what was found in time is told, too."""
        glob = None if given.glob == "*" else given.glob
        soft = self.seconds - 3
        return {"pattern": given.pattern, "path": given.path, "glob": glob, "ignoreCase": given.ignore_case,
                "seconds": soft}  # fmt: skip

    def told(self, data: text.Data) -> tuple[str, dict[str, Any]]:
        """Return the lines that were found; the value counts them."""
        value = {name: data[name] for name in ("path", "files", "skipped", "incomplete")}
        return text.searched(data), {**value, "found": len(data["matches"])}


def _written(data: text.Data) -> tuple[str, dict[str, Any]]:
    change = data["diff"]
    value = {name: data[name] for name in ("path", "created", "size")}
    return text.written(data), {
        **value,
        **{name: change[name] for name in ("added", "removed")},
        "diff": change["text"],
    }


def file_tools(sandbox: Sandbox, *, confines: Callable[[], bool]) -> tuple[FileTool, ...]:
    """Return the five tools on one sandbox."""
    kinds: tuple[type[FileTool], ...] = (ReadFile, WriteFile, EditFile, ListFiles, SearchFiles)
    return tuple(kind(sandbox, confines=confines) for kind in kinds)
