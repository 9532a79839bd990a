"""Small things that scripts use."""

from __future__ import annotations

import logging
import random
import shlex
import string
import subprocess
import sys
from typing import Any

from cloudify.exceptions import CommandExecutionException


def id_generator(size: int = 6, chars: str = string.ascii_uppercase + string.digits) -> str:
    """A text that nobody else has made, hopefully."""
    return "".join(random.SystemRandom().choice(chars) for _ in range(size))


def setup_logger(
    logger_name: str,
    logger_level: int = logging.DEBUG,
    handlers: Any = None,
    remove_existing_handlers: bool = True,
    **_: Any,
) -> logging.Logger:
    """A logger whose lines are those of the operation."""
    logger = logging.getLogger(logger_name)
    if remove_existing_handlers:
        logger.handlers = []
    for handler in handlers or [logging.StreamHandler(sys.stdout)]:
        logger.addHandler(handler)
    logger.setLevel(logger_level)
    logger.propagate = False
    return logger


class CommandExecutionResponse:
    """What a command has given."""

    def __init__(self, command: Any, std_out: str, std_err: str, return_code: int) -> None:
        self.command, self.std_out, self.std_err, self.return_code = command, std_out, std_err, return_code


class LocalCommandRunner:
    """Runs commands on the machine of the operation."""

    def __init__(self, logger: Any = None, host: str = "localhost") -> None:
        self.logger = logger or setup_logger("LocalCommandRunner")
        self.host = host

    def run(
        self,
        command: Any,
        exit_on_failure: bool = True,
        stdout_pipe: bool = True,
        stderr_pipe: bool = True,
        cwd: Any = None,
        execution_env: Any = None,
        **_: Any,
    ) -> CommandExecutionResponse:
        """Run a command to its end; raises ``CommandExecutionException`` where it fails."""
        import os

        words = shlex.split(command) if isinstance(command, str) else list(command)
        ran = subprocess.run(
            words,
            stdout=subprocess.PIPE if stdout_pipe else None,
            stderr=subprocess.PIPE if stderr_pipe else None,
            cwd=cwd,
            env={**os.environ, **(execution_env or {})},
            check=False,
            text=True,
        )
        response = CommandExecutionResponse(
            command, (ran.stdout or "").strip(), (ran.stderr or "").strip(), ran.returncode
        )
        if ran.returncode and exit_on_failure:
            raise CommandExecutionException(command, response.std_err, response.std_out, ran.returncode)
        return response
