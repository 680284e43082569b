"""The turn loop, the mailbox, recovery, and the models that drive them."""

from placet.agent.crew import Crew
from placet.agent.errors import AgentError, BadScript, MessageIdTaken, ModelError, UnknownModel
from placet.agent.kit import Kit
from placet.agent.speech import Delta, Partial, Speech
from placet.agent.worker import Worker

__all__ = [
    "AgentError",
    "BadScript",
    "Crew",
    "Delta",
    "Kit",
    "MessageIdTaken",
    "ModelError",
    "Partial",
    "Speech",
    "UnknownModel",
    "Worker",
]
