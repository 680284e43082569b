"""The arguments of the seven tools. Their shape is checked here; what they name is checked where it is known."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from placet.cordis.tools import words

PluginName = Annotated[str, StringConstraints(min_length=1, max_length=64), Field(description=words.PLUGIN_ID)]
PackageName = Annotated[str, StringConstraints(min_length=1, max_length=64), Field(description=words.PACKAGE_ID)]
Line = StringConstraints(max_length=2_000)


class Nothing(BaseModel):
    """No arguments; and the rules of all others: no unknown field, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewPlugin(Nothing):
    """A plugin that does not exist yet."""

    kind: Literal["new"]
    idPrefix: Annotated[str, Line, Field(description=words.ID_PREFIX)]


class ExistingPlugin(Nothing):
    """A plugin of this session."""

    kind: Literal["existing"]
    pluginId: PluginName


class Code(Nothing):
    """The two halves; at least one of them."""

    host: Annotated[str | None, Field(description=words.HOST_HALF)] = None
    client: Annotated[str | None, Field(description=words.CLIENT_HALF)] = None


class Define(Nothing):
    """`cordis_define`."""

    plugin: Annotated[NewPlugin | ExistingPlugin, Field(discriminator="kind", description=words.PLUGIN)]
    name: Annotated[str, Line, Field(description=words.NAME)]
    purpose: Annotated[str, Line, Field(description=words.PURPOSE)]
    code: Annotated[Code, Field(description=words.CODE)]


class Run(Nothing):
    """`cordis_run`. The mode is a text here, so that a wrong one is answered with the right one."""

    pluginId: PluginName
    packageId: PackageName
    mode: Annotated[str, Field(description=words.MODE, json_schema_extra={"enum": ["run", "update"]})]


class Named(Nothing):
    """`cordis_stop` and `cordis_undefine`."""

    pluginId: PluginName


class Query(Nothing):
    """`cordis_inspect_query`."""

    platform: Literal["host", "client"]
    provider: Annotated[str, Line, Field(description=words.PROVIDER)]
    method: Annotated[str, Line, Field(description=words.METHOD)]
    input: Annotated[dict[str, Any] | None, Field(description=words.INPUT)] = None


class Self(Nothing):
    """`cordis_inspect_self`."""

    pluginId: PluginName | None = None
    packageId: PackageName | None = None
