"""What the agent can do, and the pipeline that every call goes through."""
