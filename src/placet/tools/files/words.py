"""What the model reads about the file tools before it uses them (contract O4 to O7)."""

from __future__ import annotations

_PATHS = """\
A path is absolute, or relative to the session's folder; `~` and wildcards mean nothing in it. The rules of the sandbox
are those of commands, and `/tmp` and the folder that `TMPDIR` names are the same for both. Only files and folders
are opened, nothing of /proc, /sys and /dev.
"""

_DENIAL = """\
`[sandbox: file access denied under MODE mode]` means that a rule of the user stopped the operation. Do not work around
it.
"""

READ = (
    """\
Read a text file by its lines. Each line comes with its number and a tab before it; both are not part of the file. A
long file comes in pieces: the last line of the result says where to go on.
"""
    + _PATHS
)

WRITE = (
    """\
Write a text file: a new one, or one that is replaced as a whole. Missing folders above it are made. To change a part
of a file, use `edit_file`. The result shows what changed.
"""
    + _PATHS
    + _DENIAL
)

EDIT = (
    """\
Replace one piece of text in a file. `old_text` must be in the file exactly once, blanks and line ends included, unless
`replace_all` is true; so read the file first, and take along enough of the lines around the place. The result
shows what changed.
"""
    + _PATHS
    + _DENIAL
)

LIST = (
    """\
List a folder: what is in it, with sizes, and where symlinks lead. `depth` lists folders within it, too.
"""
    + _PATHS
)

SEARCH = (
    """\
Search files for a regular expression, in the syntax of Python's `re`, line by line. Without `path` the session's whole
folder is searched; `glob` leaves only files whose name fits. Folders called .git, binary files and files over 4 MiB
are passed over, symlinks are not followed. The last line of the result says if there may be more.
"""
    + _PATHS
)

ESCALATION = """
Trying is safe: what the mode does not allow does not happen, so do it as it is, without asking in the chat first.
Only after a real denial, and only if the user's task needs it, send the exact same call once more in the same turn,
with `sandbox_permissions` set to the narrowest mode that suffices and a one-sentence `justification`. A person is
then shown the operation and decides. Where prompts are off, a denial is final. Never ask for more access on suspicion.
A refusal is final for that operation, not for others.
"""

PATH = "The file, absolute or relative to the session's folder."
FOLDER = "The folder, absolute or relative to the session's folder; that folder if left out."
PLACE = "The folder or file to search, absolute or relative to the session's folder; that folder if left out."
OFFSET = "The number of the first line to read; 1 if left out."
LIMIT = "How many lines to read; 1000 if left out, 2000 at most."
CONTENT = "The whole text of the file."
OLD_TEXT = "The text to replace, exactly as it stands in the file."
NEW_TEXT = "The text to put in its place; empty to take it out."
REPLACE_ALL = "True to replace every place where the text stands."
DEPTH = "How many levels of folders to list; 1 if left out, 5 at most."
PATTERN = "The regular expression that a line has to contain a match of."
GLOB = "Only files whose name fits, such as '*.py'; with a slash in it, whose path fits, such as 'src/**/*.py'."
IGNORE_CASE = "True if upper and lower case are the same."
PERMISSIONS = (
    "Only to repeat an operation that the sandbox has just denied: the narrowest mode that suffices, for this one call."
)
JUSTIFICATION = (
    "Only together with sandbox_permissions: one sentence for the user on why this operation has to do more."
)

HINT = (
    "[sandbox: you may ask once: send this exact operation again now, with sandbox_permissions set to the narrowest"
    " wider mode that suffices and a one-sentence justification; a person is asked to allow it]"
)
FINAL = "[sandbox: nobody can be asked for more access here, so this denial is final]"
ABORTED = "the turn was stopped while this was done; it was ended, and may have done part of its work."
TOO_LONG = (
    "It took longer than {seconds:g} seconds and was ended. Search a smaller folder, or with a simpler expression."
)
