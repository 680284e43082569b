"""Reading, writing, editing, listing and searching files, all of it in the confined helper."""

from placet.tools.files.tools import FileTool, file_tools

__all__ = ["FileTool", "file_tools"]
