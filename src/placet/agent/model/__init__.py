"""Models behind one small port; the vendors' libraries live here only."""

from placet.agent.model.catalogue import Offer, default_model, model_named, offers
from placet.agent.model.port import (
    AssistantTurn,
    Message,
    Model,
    ModelCall,
    ModelRequest,
    Piece,
    ReasoningDelta,
    Reply,
    TextDelta,
    ToolReturn,
    ToolSpec,
    UserTurn,
)

__all__ = [
    "AssistantTurn",
    "Message",
    "Model",
    "ModelCall",
    "ModelRequest",
    "Offer",
    "Piece",
    "ReasoningDelta",
    "Reply",
    "TextDelta",
    "ToolReturn",
    "ToolSpec",
    "UserTurn",
    "default_model",
    "model_named",
    "offers",
]
