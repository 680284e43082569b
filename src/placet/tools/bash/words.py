"""What the model reads about the `bash` tool before it uses it (contract O5, O6)."""

from __future__ import annotations

TOOL = """\
Run one command in a fresh, non-interactive bash. Nothing carries over from call to call, neither variables nor the
working directory: use `workdir`, not `cd`. Calls of one message run at the same time; put steps that depend on each
other into one command, or into later messages. Standard input is empty, and nothing that the command leaves running
survives it.

The result is the output, then marker lines. The last one is `[exit code: N]` or `[killed by signal: X]`: read it
before you go on. A non-zero exit is a result like any other. Long output is kept at its start and its end; a line in
the middle says how much was dropped, and one below it from where `read_file` reads all of it.

`TMPDIR` names a private folder of this session that can always be written. Keys and other secrets of the user are not
in the environment.

`[sandbox: file access denied under MODE mode]` means that a rule of the user stopped the command, not a fault of the
machine. Do not work around it.
"""

BACKGROUND = """
For a server, a watcher or a long build set `run_in_background`: the call returns a job id at once, and the job runs on
over your later calls and turns, without a time limit, in the mode that this call has. A message tells you when it ends;
`job_output` reads what it wrote, `job_list` shows all, `job_kill` ends one. Jobs end with the session and with placet,
and when the user stops the turn that started them. Do not use `&` for it.
"""
NO_BACKGROUND = """
Nothing can run in the background here.
"""

ESCALATION = """
Trying is safe: what the mode does not allow does not happen, so run the command as it is, without asking in the chat
first. Only after a real denial, and only if the user's task needs it, send the exact same command once more in the same
turn, with `sandbox_permissions` set to the narrowest mode that suffices and a one-sentence `justification`. A
person is then shown the command and decides. Where prompts are off, a denial is final. Never ask for more access on
suspicion. A refusal is final for that command, not for others.
"""

COMMAND = "The command, exactly as bash shall read it."
DESCRIPTION_FIELD = "What the command does, in a few words for the user, such as 'List the files of the project'."
TIMEOUT = "Milliseconds after which the command is ended; 120000 if left out, 600000 at most."
WORKDIR = "The folder to run in, absolute or relative to the session's folder; that folder if left out."
IN_BACKGROUND = "Run the command as a background job and return its id at once; without a time limit."
PERMISSIONS = (
    "Only to repeat a command that the sandbox has just denied: the narrowest mode that suffices, for this one call."
)
JUSTIFICATION = "Only together with sandbox_permissions: one sentence for the user on why this command has to do more."
ABORTED = "the turn was stopped while this command ran; it was ended, and may have done part of its work."
