# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that all rooms raise; pure."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .problem import Problem, as_results, message


class ReportedError(Exception):
    """An error that ends a module with its own text instead of a traceback."""

    def result(self) -> dict[str, Any]:
        """Return what the failed module returns besides the text."""
        return {}


class RefusedError(ReportedError):
    """Input was refused before anything was changed.

    :param problems: the Problems, at least one
    :param names: ``{option: name}`` by which the reader knows an option, see ``problem.renamed``
    """

    def __init__(self, problems: Iterable[Problem], names: Mapping[str, str] | None = None) -> None:
        self.problems = list(problems)
        self.names = names
        super().__init__(message(self.problems, names))

    def results(self) -> list[dict[str, Any]]:
        """Return the problems as a module returns them."""
        return as_results(self.problems, self.names)

    def result(self) -> dict[str, Any]:
        """Return what the failed module returns besides the text."""
        return {"problems": self.results()}


@contextmanager
def os_errors_reported(subject: str, if_denied: str = "") -> Iterator[None]:
    """Turn an OSError, for example of a full disk or a file that may not be read, into a ReportedError.

    :param subject: what the message names where the error names no file
    :param if_denied: next step where a permission is missing, a phrase in the imperative
    """
    try:
        yield
    except OSError as exc:
        hint = f"; {if_denied}" if if_denied and isinstance(exc, PermissionError) else ""
        raise ReportedError(f"{exc.filename or subject}: {exc.strerror or exc}{hint}") from exc
