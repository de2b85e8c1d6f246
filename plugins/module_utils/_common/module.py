# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of all modules: argument errors, redaction, required libraries, errors, diffs, progress."""
from __future__ import annotations

import contextlib
import functools
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from .options.given import refuse_structures
from .options.plain_names import with_dictionaries
from .problems.errors import ReportedError
from .redaction import quoted_secrets, redaction
from .texts.plain_text import plain
from .waiting.progress import Progress

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


class Module(AnsibleModule):
    """A module of this collection.

    Ansible reports the first argument that does not fit the spec, without the object that it belongs to, and its
    ``no_log`` hides whole options, not secrets inside structures. This base reports all problems at once, and hides
    secrets in everything that leaves the module: results, failures, tracebacks, warnings and parameters. It writes no
    line in the system's log, which would hold all parameters. What Ansible prints as it is, failures, tracebacks,
    warnings and differences, steers no terminal: it quotes what BMCs, API servers and others say.

    :param argument_spec: Ansible's argument spec
    :param check: called with the parameters as they were given when Ansible refuses them; raises a ReportedError with
        all problems, or returns when it finds none
    :param open_results: names of results that hold secrets because the user asks for them
    :param arguments: further arguments of AnsibleModule
    """

    secret_keys = redaction.OBJECT_KEYS
    params: dict[str, Any]

    def __init__(self, argument_spec: dict[str, dict[str, Any]],
                 check: Callable[[dict[str, Any]], None] | None = None, open_results: tuple[str, ...] = (),
                 **arguments: Any) -> None:
        self.progress = Progress()
        self._checking_arguments = True
        self._check = check
        self._open_results = open_results
        self._given = {}
        try:
            super().__init__(argument_spec=argument_spec, supports_check_mode=True, no_log=True, **arguments)
        except TypeError:
            # So Ansible's own check ends for a number where a dictionary with options of its own belongs.
            self._checking_arguments = False
            with self.reporting():
                if check:
                    check(self._given)
            raise
        self._checking_arguments = False
        with self.reporting():
            refuse_structures(self.argument_spec, self._given)

    def _load_params(self) -> None:
        """Keep what was given: Ansible turns dictionaries into texts, and empties lists with a wrong element."""
        super()._load_params()
        self.params = with_dictionaries(self.argument_spec, self.params)
        self._given = _copied(self.params)
        # A warning may have asked for it before.
        self.__dict__.pop("_given_secrets", None)

    def require(self, **libraries: bool) -> None:
        """Fail unless libraries are installed.

        :param libraries: for each distribution name whether it was imported
        """
        for name, is_there in libraries.items():
            if not is_there:
                self.fail_json(missing_required_lib(name))

    @contextlib.contextmanager
    def reporting(self, done: Callable[[], dict[str, Any]] = dict) -> Iterator[None]:
        """Fail with the text of a ReportedError.

        :param done: called without arguments; returns what else the module has changed before it failed
        """
        try:
            yield
        except ReportedError as exc:
            self.finish(dict(done(), **exc.result()), str(exc))

    def finish(self, result: dict[str, Any], failure: str = "") -> None:
        """Return a result, with its warnings and, in diff mode, its difference.

        :param result: dict; ``warnings``: list of texts; ``diff``: a dict or a list of dicts as Ansible takes them,
            whose sides may be structures
        :param failure: text, when the module has failed
        """
        result = dict(result)
        for warning in result.pop("warnings", []):
            self.warn(warning)
        if self._diff and "diff" in result:
            diff = result["diff"]
            result["diff"] = [_as_text(item) for item in diff] if isinstance(diff, list) else _as_text(diff)
        else:
            result.pop("diff", None)
        if failure:
            # What was stored before: handlers run for it, and the user learns what to look at.
            result["changed"] = bool(result.get("changed") or self.progress.written)
            if self.progress.written:
                result["written"] = list(self.progress.written)
            self.fail_json(failure, **result)
        self.exit_json(**result)

    def exit_json(self, **result: Any) -> None:
        """Return the result."""
        # Commands, contents of files and of Secrets may be ordinary words: a result that is no message stays as it is.
        parameters = self._read_parameters()
        super().exit_json(**self._leaving(result, parameters, parameters.named | self._given_secrets.named))

    def fail_json(self, msg: str, **result: Any) -> None:
        """Fail with ``msg``, while arguments are checked with all problems; without secrets.

        Webhooks quote what they refuse, password and all.
        """
        if self._checking_arguments:
            self._checking_arguments = False
            with self.reporting():
                if self._check:
                    self._check(self._given)
                refuse_structures(self.argument_spec, self._given)
        if sys.exc_info()[0] is not None:
            # Else Ansible takes the traceback itself, with the message as it is.
            result.setdefault("exception", traceback.format_exc())
        parameters = self._read_parameters()
        super().fail_json(**self._leaving(dict(result, msg=msg), parameters, self._secrets(parameters)))

    def warn(self, warning: str, **options: Any) -> None:
        """Add a warning."""
        text = quoted_secrets.without_secrets(warning, self._secrets(self._read_parameters()))
        super().warn(plain(redaction.without_url_secrets(text), keep_lines=True), **options)

    def _read_parameters(self) -> redaction.Parameters:
        return redaction.read_parameters(self.params, self.argument_spec, self.secret_keys)

    @functools.cached_property
    def _given_secrets(self) -> redaction.Parameters:
        return redaction.read_parameters(self._given, self.argument_spec, self.secret_keys)

    def _secrets(self, parameters: redaction.Parameters) -> set[str]:
        """Return all secrets in the parameters, as they are and as they were given."""
        given = self._given_secrets
        return parameters.named | parameters.placed | given.named | given.placed

    def _leaving(self, result: dict[str, Any], parameters: redaction.Parameters, secrets: set[str]) -> dict[str, Any]:
        result = dict({"invocation": {"module_args": parameters.shown}}, **result)
        closed = dict((key, value) for key, value in result.items() if key not in self._open_results)
        result.update(redaction.without_url_secrets(quoted_secrets.without_secrets(
            closed, secrets, self.secret_keys.shortest)))
        for name in ("msg", "exception"):
            if isinstance(result.get(name), str):
                result[name] = plain(result[name], keep_lines=True)
        # Ansible looks for each secret in each value of a result, which takes seconds for a thousand passwords; those
        # that are hidden by now are in no value.
        hidden = set() if self._open_results else set(
            text for text in secrets if len(text.strip()) >= self.secret_keys.shortest)
        self.no_log_values: set[str] = quoted_secrets.occurring_in(result, self.no_log_values - hidden)
        return result


def _copied(value: Any) -> Any:
    """Return a copy of what was read as JSON; ``copy.deepcopy`` takes five times as long."""
    if isinstance(value, dict):
        return dict((key, _copied(item)) for key, item in value.items())
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _as_text(diff: Any) -> Any:
    """Return a diff whose sides are texts: structures as YAML, which is easier to read than Ansible's JSON."""
    if not isinstance(diff, dict) or yaml is None:
        return diff
    before, after = diff.get("before"), diff.get("after")
    if isinstance(before, dict) and isinstance(after, dict):
        before, after = redaction.hidden_difference(before, after)
    headers = dict((name, plain(value)) for name, value in diff.items() if isinstance(value, str))
    return dict(diff, **dict(headers, before=plain(_side(before), keep_lines=True),
                             after=plain(_side(after), keep_lines=True)))


def _side(value: Any) -> str:
    if isinstance(value, str):
        return value
    return yaml.safe_dump(value, default_flow_style=False) if value else ""
