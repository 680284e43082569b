"""Commands in the background: one service per process, three tools, and what the log says about them."""

from placet.tools.jobs.errors import JobRefused
from placet.tools.jobs.job import Job
from placet.tools.jobs.record import JOBS, Ended, Known, Reason, Started, jobs_of_workspace, open_jobs
from placet.tools.jobs.service import Jobs
from placet.tools.jobs.tools import job_tools

__all__ = [
    "JOBS",
    "Ended",
    "Job",
    "JobRefused",
    "Jobs",
    "Known",
    "Reason",
    "Started",
    "job_tools",
    "jobs_of_workspace",
    "open_jobs",
]
