"""What an agent can do, and the one way through which every call goes."""

from placet.tools.bash import BashTool
from placet.tools.batch import run_batch
from placet.tools.codes import Code, Unused
from placet.tools.errors import NameTaken, ToolsError
from placet.tools.pipeline import Pipeline
from placet.tools.registry import Registry
from placet.tools.stages import Accept, Allow, AskFirst, Block, Body, Deny, Finished, Request, Stages
from placet.tools.tool import (
    CallContext,
    CallFacts,
    RunContext,
    Stakes,
    Tool,
    ToolCall,
    ToolOutput,
    definition_digest,
)

__all__ = [
    "Accept",
    "Allow",
    "AskFirst",
    "BashTool",
    "Block",
    "Body",
    "CallContext",
    "CallFacts",
    "Code",
    "Deny",
    "Finished",
    "NameTaken",
    "Pipeline",
    "Registry",
    "Request",
    "RunContext",
    "Stages",
    "Stakes",
    "Tool",
    "ToolCall",
    "ToolOutput",
    "ToolsError",
    "Unused",
    "definition_digest",
    "run_batch",
]
