"""Errors in the shape of ironic-python-agent's RESTError."""
from __future__ import annotations


class AgentError(Exception):
    """A command failed.

    :param details: what happened
    :param kind: name of the real agent's exception
    """

    kind = "CommandExecutionError"
    message = "Command execution failed"
    status = 500

    def __init__(self, details, kind=None):
        super().__init__(details)
        self.details = details
        self.kind = kind or self.kind

    def serialize(self):
        """Return what goes into ``command_error``."""
        return {"type": self.kind, "code": self.status, "message": self.message, "details": self.details}


class InvalidContent(AgentError):
    """A request makes no sense."""

    kind = "InvalidCommandError"
    message = "Invalid command"
    status = 400


class AgentBusy(AgentError):
    """Another command is running."""

    kind = "AgentIsBusy"
    message = "Agent is busy"
    status = 409

    def __init__(self, name):
        super().__init__(f"executing command {name}")
