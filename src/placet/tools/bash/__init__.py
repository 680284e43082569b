"""The tool that runs commands: its schema and body, its words for the model, and how a result reads."""

from placet.tools.bash.tool import BashTool

__all__ = ["BashTool"]
