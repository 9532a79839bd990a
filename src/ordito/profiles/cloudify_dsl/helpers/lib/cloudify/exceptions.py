"""What scripts raise to say how their operation ends."""

from __future__ import annotations

from typing import Any


class CloudifyException(Exception):
    """Ancestor of all others."""

    def __init__(self, message: Any = "", *args: Any, **named: Any) -> None:
        super().__init__(message, *args)
        self.causes = named.get("causes") or []


class NonRecoverableError(CloudifyException):
    """The operation has failed for good."""


class RecoverableError(CloudifyException):
    """The operation is to be tried again, after so many seconds."""

    def __init__(self, message: Any = "", retry_after: Any = None, *args: Any, **named: Any) -> None:
        super().__init__(message, *args, **named)
        self.retry_after = retry_after


class OperationRetry(RecoverableError):
    """The operation is not done yet, and is to be tried again."""


class HttpException(NonRecoverableError):
    """A file of the blueprint is not there."""

    def __init__(self, message: Any = "", code: Any = None, *args: Any, **named: Any) -> None:
        super().__init__(message, *args, **named)
        self.code = code


class CommandExecutionException(CloudifyException):
    """A command of the operation has failed."""

    def __init__(self, command: Any = "", error: Any = "", output: Any = "", code: Any = None) -> None:
        super().__init__("{} has ended with {}: {}".format(command, code, error))
        self.command, self.error, self.output, self.code = command, error, output, code


CommandExecutionError = CommandExecutionException


class TimeoutException(CloudifyException):
    """A command of the operation took too long."""


class ProcessException(CommandExecutionException):
    """A process of the operation has failed."""
