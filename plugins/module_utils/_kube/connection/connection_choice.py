# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which API server is meant: what options and environment together ask for."""
from __future__ import annotations

import os
from typing import Any

from .connection_values import check_impersonation, check_proxy, check_server, check_token, refused

DEFAULT_KUBECONFIG = "~/.kube/config"

# Options and the environment variables they fall back to, the first that is set. Not ``fallback`` of the argument spec:
# what the user wrote for this task counts more than the environment, so that it must be known which is which.
ENVIRONMENT = {
    "kubeconfig": ("KUBECONFIG", "K8S_AUTH_KUBECONFIG"),
    "context": ("K8S_AUTH_CONTEXT",),
    "host": ("K8S_AUTH_HOST",),
    "api_key": ("K8S_AUTH_API_KEY",),
    "ca_cert": ("K8S_AUTH_SSL_CA_CERT",),
    "client_cert": ("K8S_AUTH_CERT_FILE",),
    "client_key": ("K8S_AUTH_KEY_FILE",),
    "validate_certs": ("K8S_AUTH_VERIFY_SSL",),
    "impersonate_user": ("K8S_AUTH_IMPERSONATE_USER",),
    "impersonate_groups": ("K8S_AUTH_IMPERSONATE_GROUPS",),
    "proxy": ("K8S_AUTH_PROXY",),
    "no_proxy": ("K8S_AUTH_NO_PROXY",),
}
_FILES = ("ca_cert", "client_cert", "client_key")
_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Choice:
    """What options and environment together ask for; see the fragment ``kubernetes`` for the rules.

    :param params: dict with the options of :func:`connection.kube_argument_spec`; None for what is not given
    :param environ: environment variables
    :raises KubeError: when they contradict each other or do not name a server
    """

    def __init__(self, params: dict[str, Any], environ: Any) -> None:
        # An empty text or list, as a template makes it of a variable that is not set, is no choice.
        self._params = dict((name, None if params.get(name) in ("", []) else params.get(name)) for name in ENVIRONMENT)
        self._environ = environ
        self._origins = {}
        self.kubeconfig = self._params["kubeconfig"]
        self._fall_back("context", "ca_cert", "validate_certs", "proxy", "no_proxy")
        if self._params["impersonate_user"] is None and self._params["impersonate_groups"] is None:
            self._fall_back("impersonate_user", "impersonate_groups")
        if self._params["kubeconfig"] is None:
            # Who names the server or the user does not mean the ones of a kubeconfig that lies around.
            has_own = self._params["api_key"] is not None or self._params["client_cert"] is not None
            if not has_own and self._is_environments_server():
                self._fall_back("api_key", "client_cert", "client_key")
            self._fall_back("host")
        self._check()
        if self.kubeconfig is None and self["host"] is None:
            self._fall_back("kubeconfig")
            self.kubeconfig = self._params["kubeconfig"]

    def __getitem__(self, name: str) -> Any:
        return self._params[name]

    def name(self, option: str) -> str:
        """Return an option as the user gave it: by its name, or by that of the environment variable."""
        return self._origins.get(option, option)

    def _is_environments_server(self) -> bool:
        """Say whether the environment's credentials may go to the server of the options: not when it names another."""
        given = self._params["host"]
        others = [self._environ[name] for name in ENVIRONMENT["host"] if self._environ.get(name)]
        return given is None or not others or str(given).rstrip("/") == others[0].rstrip("/")

    def _fall_back(self, *names: Any) -> None:
        for name in names:
            if self._params[name] is not None:
                continue
            for variable in ENVIRONMENT[name]:
                if self._environ.get(variable):
                    value = self._environ[variable]
                    self._params[name] = _from_environment(name, variable, value)
                    self._origins[name] = variable
                    break

    def _check(self) -> None:
        if self["api_key"] is not None and self["client_cert"] is not None:
            raise refused(f"{self.name('api_key')} and {self.name('client_cert')}: found both, expected one of them: a "
                          "server that accepts the certificate does not look at the token", "leave one out")
        if self["client_key"] is not None and self["client_cert"] is None:
            raise refused(f"{self.name('client_key')}: found no {'client_cert'}, expected the certificate that the key "
                          "belongs to", "give both or none")
        for name in ("api_key", "client_cert"):
            if self[name] is not None and self["host"] is None and self["kubeconfig"] is None:
                raise refused(f"{self.name(name)}: found neither host nor the option kubeconfig, expected one: it is "
                              "not sent to the server of a kubeconfig that only the environment names",
                              "give host (or K8S_AUTH_HOST)")
        if self["api_key"] is not None:
            check_token(self["api_key"], self.name("api_key"))
        check_impersonation(self["impersonate_user"], self["impersonate_groups"], self.name("impersonate_user"),
                            self.name("impersonate_groups"))
        if self["proxy"] is not None:
            check_proxy(self["proxy"], self.name("proxy"))
        _check_kubeconfig(self.kubeconfig)
        if self["host"] is not None:
            self._params["host"] = check_server(self["host"], self.name("host"))
        for name in _FILES:
            if self[name] is not None and not os.path.isfile(os.path.expanduser(self[name])):
                raise refused(f"{self.name(name)}: found no file {self[name]}, expected one", "correct the path")

    def kubeconfig_paths(self) -> list[str]:
        """Return the paths of the kubeconfig's files.

        :raises KubeError: when one is relative and not there: Ansible runs modules in the playbook's folder, so that it
            may be where the user is, and the next one may lead to another server
        """
        given = self.kubeconfig or DEFAULT_KUBECONFIG
        paths = [os.path.expanduser(os.path.expandvars(path)) for path in given.split(os.pathsep) if path]
        for path in paths:
            if not os.path.isabs(path) and not os.path.exists(path):
                raise refused(f"{self.name('kubeconfig')}: found no file {path} in {os.getcwd()}, the folder in which "
                              "this runs, expected a kubeconfig",
                              "write its whole path, also when it is in the folder where Ansible was started, or make "
                              "the file")
        return paths


def _check_kubeconfig(given: Any) -> None:
    """Refuse a kubeconfig that is neither a path nor a dictionary, without a word of it."""
    is_content = isinstance(given, str) and ("\n" in given or given.lstrip().startswith("{"))
    if given is not None and not isinstance(given, dict) and (is_content or not isinstance(given, str)):
        raise refused("kubeconfig: found %s, expected a path or a dictionary" % (
                      "the content of a file" if is_content else f"a {type(given).__name__}"),
                      "set it to the path, or to a dictionary, for example by the filter from_yaml")


def _from_environment(name: str, variable: str, value: str) -> Any:
    if name == "impersonate_groups":
        return [part.strip() for part in value.split(",") if part.strip()]
    return _boolean(variable, value) if name == "validate_certs" else value


def _boolean(variable: str, value: str) -> Any:
    if value.strip().lower() not in _BOOLEANS:
        raise refused(f"{variable}: found {value[:50]}, expected true or false", "correct it")
    return _BOOLEANS[value.strip().lower()]
