"""The arguments of the file tools, checked before anything is opened and before anybody is asked."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model, field_validator

from placet.tools.files import words

LONGEST_PATH, LONGEST_PATTERN, LONGEST_TEXT = 4_096, 1_000, 1 << 20
_Path = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PATH)]
_Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]


class FileArguments(BaseModel):
    """What all have in common: no other field, no guessing of types, whole characters."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @field_validator("*", mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if isinstance(given, str):
            if "\0" in given:
                raise ValueError("it holds a NUL character; remove it")
            if any("\ud800" <= character <= "\udfff" for character in given):
                raise ValueError("it holds half a character (a lone surrogate); send whole characters")
        return given


class Read(FileArguments):
    """read_file"""

    path: Annotated[_Path, Field(description=words.PATH)]
    offset: Annotated[int, Field(ge=1, le=2**31, description=words.OFFSET)] = 1
    limit: Annotated[int, Field(ge=1, le=2_000, description=words.LIMIT)] = 1_000


class Write(FileArguments):
    """write_file"""

    path: Annotated[_Path, Field(description=words.PATH)]
    content: Annotated[_Text, Field(description=words.CONTENT)]


class Edit(FileArguments):
    """edit_file"""

    path: Annotated[_Path, Field(description=words.PATH)]
    old_text: Annotated[_Text, StringConstraints(min_length=1), Field(description=words.OLD_TEXT)]
    new_text: Annotated[_Text, Field(description=words.NEW_TEXT)]
    replace_all: Annotated[bool, Field(description=words.REPLACE_ALL)] = False


class List(FileArguments):
    """list_files"""

    path: Annotated[_Path, Field(description=words.FOLDER)] = "."
    depth: Annotated[int, Field(ge=1, le=5, description=words.DEPTH)] = 1


class Search(FileArguments):
    """search_files"""

    pattern: Annotated[
        str, StringConstraints(min_length=1, max_length=LONGEST_PATTERN), Field(description=words.PATTERN)
    ]
    path: Annotated[_Path, Field(description=words.PLACE)] = "."
    glob: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PATTERN), Field(description=words.GLOB)] = (
        "*"
    )
    ignore_case: Annotated[bool, Field(description=words.IGNORE_CASE)] = False


class _Wider(BaseModel):
    """The two fields that there are only where a backend confines (C11)."""

    sandbox_permissions: Annotated[
        Literal["workspace-write", "danger-full-access"], Field(description=words.PERMISSIONS)
    ] = "workspace-write"
    justification: Annotated[str, Field(description=words.JUSTIFICATION)] = ""


@cache
def with_wider(model: type[FileArguments]) -> type[BaseModel]:
    """Return the model with the fields of a wider mode."""
    return create_model(f"{model.__name__}Wider", __base__=(model, _Wider))
