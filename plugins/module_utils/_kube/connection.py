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

from .._common.answer_limits import limit_pools
from .._common.plain_text import cut
from .errors import KubeError
from .kubeconfig import (
    check_impersonation,
    check_proxy,
    check_server,
    check_token,
    choose,
    from_dict,
    impersonation_headers,
    invalid,
    read_files,
    split_proxy,
    take_impersonation,
)

try:
    import kubernetes
    import urllib3
    HAS_KUBERNETES = True
except ImportError:
    HAS_KUBERNETES = False

WORKERS = 8
# Kept for the next request: of the workers, and of a watch for each kind; others are closed, with a warning.
_KEPT_CONNECTIONS = 64
# Tokens of exec plugins and service accounts live for minutes at least.
CREDENTIALS_SECONDS = 10
DEFAULT_KUBECONFIG = "~/.kube/config"
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"

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


class Choice:
    """What options and environment together ask for; see the fragment ``kubernetes`` for the rules.

    :param params: dict with the options of :func:`kube_argument_spec`; None for what is not given
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
            raise _wrong(f"{self.name('api_key')} and {self.name('client_cert')}: found both, expected one of them: a "
                         "server that accepts the certificate does not look at the token", "leave one out")
        if self["client_key"] is not None and self["client_cert"] is None:
            raise _wrong(f"{self.name('client_key')}: found no {'client_cert'}, expected the certificate that the key "
                         "belongs to", "give both or none")
        for name in ("api_key", "client_cert"):
            if self[name] is not None and self["host"] is None and self["kubeconfig"] is None:
                raise _wrong(f"{self.name(name)}: found neither host nor the option kubeconfig, expected one: it is "
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
                raise _wrong(f"{self.name(name)}: found no file {self[name]}, expected one", "correct the path")

    def kubeconfig_paths(self) -> list[str]:
        """Return the paths of the kubeconfig's files."""
        given = self.kubeconfig or DEFAULT_KUBECONFIG
        return [os.path.expanduser(os.path.expandvars(path)) for path in given.split(os.pathsep) if path]


def _check_kubeconfig(given: Any) -> None:
    """Refuse a kubeconfig that is neither a path nor a dictionary, without a word of it."""
    is_content = isinstance(given, str) and ("\n" in given or given.lstrip().startswith("{"))
    if given is not None and not isinstance(given, dict) and (is_content or not isinstance(given, str)):
        raise _wrong("kubeconfig: found %s, expected a path or a dictionary" % (
            "the content of a file" if is_content else f"a {type(given).__name__}"),
            "set it to the path, or to a dictionary, for example by the filter from_yaml")


def _from_environment(name: str, variable: str, value: str) -> Any:
    if name == "impersonate_groups":
        return [part.strip() for part in value.split(",") if part.strip()]
    return _boolean(variable, value) if name == "validate_certs" else value


def _boolean(variable: str, value: str) -> Any:
    if value.strip().lower() not in _BOOLEANS:
        raise _wrong(f"{variable}: found {value[:50]}, expected true or false", "correct it")
    return _BOOLEANS[value.strip().lower()]


def _wrong(text: str, next_step: str) -> KubeError:
    return KubeError(text, reason="Configuration", next_step=next_step)


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
    def settings(self) -> Any:
        """The package's settings, for connections that its pool does not make."""
        return self._settings

    def allow(self, seconds: float) -> None:
        """Set how long the answers that this thread asks for may take as a whole from now on."""
        self._allowed.seconds = seconds

    def _answer_seconds(self) -> float:
        return self._allowed.seconds

    def _load(self) -> None:
        settings = kubernetes.client.Configuration()
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
            raise _wrong(f"{self._user or self.server}: certificates can't be used: {exc}",
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
        choice = self._choice
        if choice["no_proxy"] is not None:
            settings.no_proxy = choice["no_proxy"]
        if choice["proxy"] is not None:
            settings.proxy = choice["proxy"]
        if settings.proxy:
            # The package sends no credentials of the URL by itself.
            settings.proxy, credentials = split_proxy(settings.proxy)
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
        if isinstance(choice.kubeconfig, dict):
            return self._take(settings, from_dict(choice.kubeconfig, "kubeconfig"), "kubeconfig")
        paths = choice.kubeconfig_paths()
        config = read_files(paths)
        if config is not None:
            name = f"kubeconfig {os.pathsep.join(paths)}"
            return self._take(settings, config, name)
        if choice.kubeconfig is not None:
            raise _wrong(f"{choice.name('kubeconfig')}: found no file {os.pathsep.join(paths)} that is not empty, "
                         "expected a kubeconfig", "correct kubeconfig, or make the file")
        return self._load_service_account(settings)

    def _load_service_account(self, settings: Any) -> str:
        host, port = (self._environ.get(f"KUBERNETES_SERVICE_{part}") for part in ("HOST", "PORT"))
        token_file, authority = (os.path.join(SERVICE_ACCOUNT, name) for name in ("token", "ca.crt"))
        if not host or not port or not os.path.isfile(token_file) or not os.path.isfile(authority):
            raise _wrong("no Kubernetes API server given: found neither kubeconfig nor host, no file "
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
            raise _wrong(f"{name}: found server {server}, expected {self._kubeconfig_server} as at the beginning of "
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
        raise _wrong(f"token file {path}: {getattr(exc, 'strerror', None) or 'found no text'}",
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
