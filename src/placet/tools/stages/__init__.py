"""The stages that a call goes through, one module each, and the hooks by which others take part."""

from placet.tools.stages.hooks import (
    Accept,
    Allow,
    AskFirst,
    Block,
    Body,
    Deny,
    Finished,
    PostDecision,
    PreDecision,
    Request,
    Stages,
)

__all__ = [
    "Accept",
    "Allow",
    "AskFirst",
    "Block",
    "Body",
    "Deny",
    "Finished",
    "PostDecision",
    "PreDecision",
    "Request",
    "Stages",
]
