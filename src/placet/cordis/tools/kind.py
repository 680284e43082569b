"""What the seven tools have in common: a schema, a sentence, and the value as a line of JSON below it."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from placet.tools.schema import complaints, schema
from placet.tools.stages.result import error
from placet.tools.tool import Arguments, Tool, ToolOutput


class CordisTool(Tool):
    """A tool over plugins. None of them asks anybody: what needs a person is asked where code would enter the page."""

    model: type[BaseModel]

    @property
    def noun(self) -> str:
        """What a call is called where it is refused."""
        return "call"

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema."""
        return schema(self.model)

    def check(self, args: Arguments) -> str | None:
        """Return the first complaints about the arguments."""
        try:
            self.model.model_validate(args)
        except ValidationError as failure:
            return complaints(failure)
        return None


def told(sentence: str, value: dict[str, Any], **meta: str) -> ToolOutput:
    """Return a result: the sentence, and the value in the last line; `meta` is what the page finds the card by."""
    return ToolOutput(f"{sentence}\n{json.dumps(value, ensure_ascii=False)}", value, meta=meta)


def refusal(reason: str, message: str, **meta: str) -> ToolOutput:
    """Return an error whose code is the reason, for programs."""
    return error(reason, message, meta={**meta, "reason": reason})
