# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which API server is meant, fixed once, and the credentials for it, which may be renewed."""
from __future__ import annotations

import contextlib
import os
import shutil
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..._common.texts.plain_text import cut
from ..._common.transfer import proxies
from ..._common.transfer.answer_limits import limit_pools
from .connection_choice import DEFAULT_KUBECONFIG, Choice
from .connection_values import (
    check_proxy,
    check_server,
    check_token,
    impersonation_headers,
    refused,
    split_proxy,
    take_impersonation,
)
from .kubeconfig import choose, from_dict, invalid, read_files

try:
    # Here, before there are threads: two of them that import it at once meet it half loaded.
    import kubernetes
    import urllib3
except ImportError:
    kubernetes = urllib3 = None  # type: ignore[assignment]

WORKERS = 8
# Kept for the next request: of the workers, and of a watch for each kind; others are closed, with a warning.
_KEPT_CONNECTIONS = 64
# Tokens of exec plugins and service accounts live for minutes at least.
CREDENTIALS_SECONDS = 10
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def kube_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options by which a module finds its API server; documented in the fragment ``kubernetes``."""
    return {
        "kubeconfig": {"type": "raw"},
        "context": {"type": "str"},
        "host": {"type": "str"},
        "api_key": {"type": "str", "no_log": True},
        "ca_cert": {"type": "path"},
        "client_cert": {"type": "path"},
        "client_key": {"type": "path", "no_log": False},
        "validate_certs": {"type": "bool"},
        "impersonate_user": {"type": "str"},
        "impersonate_groups": {"type": "list", "elements": "str"},
        "proxy": {"type": "str"},
        "no_proxy": {"type": "str"},
    }


class Connection:
    """One API server, and the credentials for it; safe to share between threads.

    :param params: dict with the options of :func:`kube_argument_spec`, or with ``kubeconfig_content``, a kubeconfig as
        :func:`kubeconfig.inline` returns it, and ``kubeconfig_name``, what errors call it
    :param environ: environment variables
    :raises KubeError: when no usable configuration is found
    """

    def __init__(self, params: dict[str, Any], environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._content = params.get("kubeconfig_content")
        self._choice = Choice({} if self._content else params, {} if self._content else environ)
        self._environ = environ
        self._source = params.get("kubeconfig_name") or "kubeconfig"
        self._lock = threading.Lock()
        self._context: str | None = None
        # The kubeconfig's own, of which credentials are renewed; with the option host, not the one that is asked.
        self._kubeconfig_server: str | None = None
        self._token_file: str | None = None
        self.generation = 0
        self._allowed = threading.local()
        self.server: Any = None
        self._load()

    @property
    def user(self) -> str:
        """Whose credentials are sent, as the reader knows them; empty for nobody's."""
        return self._user

    @property
    def context(self) -> str | None:
        """Name of the kubeconfig's context, fixed as the server is; None without a kubeconfig."""
        return self._context

    def require_same_server(self) -> None:
        """Read the kubeconfig again: another program is about to read it by itself.

        :raises KubeError: when it can't be read, or leads to another server by now
        """
        with self._lock:
            self._load()

    @property
    def settings(self) -> Any:
        """The package's settings, for connections that its pool does not make."""
        return self._settings

    def allow(self, seconds: float) -> None:
        """Set how long the answers that this thread asks for may take as a whole from now on."""
        self._allowed.seconds = seconds

    def _answer_seconds(self) -> float:
        return self._allowed.seconds

    def _load(self) -> None:
        if kubernetes is None:
            raise refused("the Python package kubernetes can't be imported", "install it for the Python that runs this")
        settings = kubernetes.client.Configuration()
        # What the package takes of the environment depends on its version, and is not what kubectl takes.
        settings.proxy = settings.no_proxy = None
        token_file, self._user = None, ""
        self._kubeconfig_impersonation: list[tuple[str, str]] = []
        choice = self._choice
        if self._content:
            self._take(settings, self._content, self._source)
        elif choice["host"] is not None and choice.kubeconfig is None:
            settings.host = choice["host"]
        else:
            token_file = self._load_kubeconfig(settings)
        server = choice["host"] or settings.host
        if self.server is None:
            self.server = server
        settings.host = self.server
        self._own_credentials(settings)
        self._set_proxy(settings)
        self.impersonation = self._chosen_impersonation()
        settings.connection_pool_maxsize = _KEPT_CONNECTIONS
        settings.retries = False
        self._token_file = token_file if choice["api_key"] is None else None
        self._settings = settings
        self._asked_at = float("-inf")
        self._authorization: str | None = None
        try:
            if self.server.startswith("https:"):
                _check_certificates(settings)
            self.pool = limit_pools(kubernetes.client.ApiClient(settings).rest_client.pool_manager,
                                    self._answer_seconds)
        # An SSLError is an OSError.
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as exc:
            raise refused(f"{self._user or self.server}: certificates can't be used: {exc}",
                          "correct ca_cert, client_cert and client_key, or the kubeconfig's") from exc

    def _own_credentials(self, settings: Any) -> None:
        choice = self._choice
        if choice["api_key"] is not None:
            settings.api_key = {"authorization": f"Bearer {choice['api_key']}"}
            self._user = choice.name("api_key")
        elif choice["client_cert"] is not None:
            settings.cert_file = os.path.expanduser(choice["client_cert"])
            settings.key_file = os.path.expanduser(choice["client_key"]) if choice["client_key"] else None
            self._user = choice.name("client_cert")
        if choice["ca_cert"] is not None:
            settings.ssl_ca_cert = os.path.expanduser(choice["ca_cert"])
        if choice["validate_certs"] is not None:
            settings.verify_ssl = choice["validate_certs"]

    def _set_proxy(self, settings: Any) -> None:
        """Set the proxy of the options, else that of the kubeconfig, else the environment's, unless none is for it."""
        given, no_proxy = self._choice["proxy"] or settings.proxy, self._choice["no_proxy"]
        if not given:
            given = proxies.proxy_of(self.server, self._environ)
            if given:
                check_proxy(given, f"{self.server.partition(':')[0].upper()}_PROXY")
        settings.proxy = None
        if given and not proxies.is_direct(
                self.server, proxies.no_proxy_of(self._environ) if no_proxy is None else no_proxy):
            # The package sends no credentials of the URL by itself.
            settings.proxy, credentials = split_proxy(given)
            if credentials:
                settings.proxy_headers = urllib3.make_headers(proxy_basic_auth=credentials)

    def _chosen_impersonation(self) -> list[tuple[str, str]]:
        """Return the headers that make the server act for another user: by the options, else by the kubeconfig."""
        choice = self._choice
        return impersonation_headers(choice["impersonate_user"], choice["impersonate_groups"]) \
            or self._kubeconfig_impersonation

    def _load_kubeconfig(self, settings: Any) -> str | None:
        """Set what a kubeconfig or the pod's service account says and return the path of its token, if it has one."""
        choice = self._choice
        config, files = _read(choice)
        if config is not None:
            return self._take(settings, config, f"kubeconfig {files}".rstrip())
        if choice.kubeconfig is not None:
            raise refused(f"{choice.name('kubeconfig')}: found no file {files} that is not empty, "
                          "expected a kubeconfig",
                          "correct kubeconfig (metal3_kubeconfig in an inventory), or make the file; the playbook "
                          "install makes that of a plane of processes")
        return self._load_service_account(settings)

    def _load_service_account(self, settings: Any) -> str:
        host, port = (self._environ.get(f"KUBERNETES_SERVICE_{part}") for part in ("HOST", "PORT"))
        token_file, authority = (os.path.join(SERVICE_ACCOUNT, name) for name in ("token", "ca.crt"))
        if not host or not port or not os.path.isfile(token_file) or not os.path.isfile(authority):
            raise refused("no Kubernetes API server given: found neither kubeconfig nor host, no file "
                          f"{DEFAULT_KUBECONFIG} and no service account of a pod",
                          "set kubeconfig (metal3_kubeconfig in an inventory, or KUBECONFIG), or host and api_key")
        self._pin(check_server("https://%s:%s" % (f"[{host}]" if ":" in host else host, port),
                               "KUBERNETES_SERVICE_HOST"), "the pod's service account")
        settings.host, settings.ssl_ca_cert = self._kubeconfig_server, authority
        self._user = "the pod's service account"
        return token_file

    def _take(self, settings: Any, config: dict[str, Any], name: str) -> str | None:
        """Set what one context of a kubeconfig says and return the path of its token, if it has one."""
        context, cluster, user = choose(config, self._context or self._choice["context"], name)
        self._pin(check_server(cluster["server"], name), f"{name}, context {context}")
        self._context = context
        has_own = self._choice["api_key"] is not None or self._choice["client_cert"] is not None
        user = {} if has_own else dict(user)
        self._kubeconfig_impersonation = take_impersonation(user)
        self._user = "" if not user else f"{name}, context {context}"
        # kubectl prefers it to a token beside it, and so does the server's administrator who renews it.
        token_file = user.pop("tokenFile", None)
        plugin = user.get("exec")
        if plugin and not user.get("token") and shutil.which(plugin["command"]) is None:
            raise invalid(name, f"exec: found no program {plugin['command']}, expected one",
                          cut(plugin.get("installHint", "").strip(), 500) or "install it, or correct the kubeconfig")
        _set(settings, cluster, user, name)
        if plugin and not (_token_of(settings) or settings.cert_file):
            raise invalid(name, f"exec: {plugin['command']} gave no credentials",
                          "run it in a shell, or log in as it requires")
        return token_file

    def _pin(self, server: str, name: str) -> None:
        """Remember the server that credentials are for; a kubeconfig that names another one by now is not used."""
        if self._kubeconfig_server not in (None, server):
            raise refused(f"{name}: found server {server}, expected {self._kubeconfig_server} as at the beginning of "
                          "this run: credentials for another server are not sent to this one",
                          "run again when the kubeconfig is corrected")
        self._kubeconfig_server = server

    def authorization(self) -> str | None:
        """Return the value of the header ``Authorization``, None when there is none; renewed where that is cheap.

        :raises KubeError: when the token's file can't be read
        """
        with self._lock:
            if time.monotonic() - self._asked_at > CREDENTIALS_SECONDS:
                self._authorization = self._current_token()
                self._asked_at = time.monotonic()
            return self._authorization

    def _current_token(self) -> str | None:
        if self._token_file:
            return f"Bearer {_read_token(self._token_file)}"
        hook = self._settings.refresh_api_key_hook
        if hook is not None and self._choice["api_key"] is None:
            # It runs an exec plugin whose token has expired, and sets more than the token, which is not looked at.
            try:
                hook(self._settings)
            except Exception as exc:
                raise invalid(self._user, f"its credentials can't be renewed: {_plugin_error(exc)}",
                              "log in as its exec plugin requires") from exc
        return _token_of(self._settings)

    def renew(self, generation: int) -> bool:
        """Read all credentials again, from where they came; the server stays.

        :param generation: :attr:`generation` when those that were refused were taken
        :returns: whether there are others by now
        :raises KubeError: when they can't be read, or are for another server by now
        """
        with self._lock:
            if generation != self.generation:
                return True
            before = self._identity()
            self._load()
            if self._identity() == before:
                return False
            self.generation += 1
            return True

    def _identity(self) -> list[Any]:
        """Return what stands for the present credentials."""
        parts: list[Any] = [self._current_token()]
        for path in (self._settings.cert_file, self._settings.key_file):
            try:
                with open(path, "rb") as stream:
                    parts.append(stream.read())
            except (OSError, TypeError):
                parts.append(None)
        return parts


def _read(choice: Choice) -> tuple[dict[str, Any] | None, str]:
    """Return the kubeconfig that options lead to, None for none, and its files, empty for a given one."""
    if isinstance(choice.kubeconfig, dict):
        return from_dict(choice.kubeconfig, "kubeconfig"), ""
    paths = choice.kubeconfig_paths()
    return read_files(paths), os.pathsep.join(paths)


def server_named(params: dict[str, Any], environ: Mapping[str, str] | None = None) -> str:
    """Return the URL of the server that a :class:`Connection` of these options would ask, empty for the pod's own.

    No credentials are read, and no plugin is run for them.

    :param params: dict with the options of :func:`kube_argument_spec`
    :param environ: environment variables
    :raises KubeError: when no usable configuration is found
    """
    choice = Choice(params, os.environ if environ is None else environ)
    if choice["host"] is not None:
        return str(choice["host"])
    config, _files = _read(choice)
    if config is None:
        return ""
    return check_server(choose(config, choice["context"], "kubeconfig")[1]["server"], "kubeconfig")


def _check_certificates(settings: Any) -> None:
    """Load the files once, because with the first request an error would not say which one is wrong."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if settings.ssl_ca_cert:
        with _named(settings.ssl_ca_cert):
            context.load_verify_locations(cafile=settings.ssl_ca_cert)
    if settings.cert_file:
        with _named(settings.cert_file):
            # With a password, lest OpenSSL ask for one at the terminal.
            context.load_cert_chain(settings.cert_file, settings.key_file, password="")


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise OSError(f"{path}: {exc.strerror or getattr(exc, 'reason', None) or exc}") from exc


def _token_of(settings: Any) -> str | None:
    keys = settings.api_key
    return keys.get("BearerToken") or keys.get("authorization")


def _read_token(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            token = stream.read(1024 * 1024).strip()
    except (OSError, ValueError) as exc:
        raise refused(f"token file {path}: {getattr(exc, 'strerror', None) or 'found no text'}",
                      "make it a readable file with a token") from exc
    check_token(token, f"token file {path}")
    return token


def _set(settings: Any, cluster: dict[str, str], user: dict[str, Any], name: str) -> None:
    """Let the package kubernetes make settings of one cluster and user, which may run the user's plugin."""
    content = {"current-context": "chosen", "contexts": [{"name": "chosen", "context": {
        "cluster": "chosen", "user": "chosen"}}], "clusters": [{"name": "chosen", "cluster": cluster}],
        "users": [{"name": "chosen", "user": user}]}
    try:
        kubernetes.config.load_kube_config_from_dict(content, client_configuration=settings, persist_config=False)
    # Its plugins raise whatever they meet.
    except Exception as exc:
        raise invalid(name, _plugin_error(exc), "correct kubeconfig or context") from exc


def _plugin_error(exc: Any) -> Any:
    if isinstance(exc, (kubernetes.config.ConfigException, OSError)):
        return cut(str(exc), 500)
    # It may quote a secret.
    return f"it can't be used ({type(exc).__name__})"
