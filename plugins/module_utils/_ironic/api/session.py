# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""openstacksdk's part of the client: imported where Ironic is asked, because that alone takes a third of a second."""
from __future__ import annotations

import os
from typing import Any

from ..._common.transfer import answer_limits, proxies
from .errors import IronicError, lost_answer

# What ends a request without an answer.
FAULTS: tuple[type[Exception], ...] = (OSError,)
try:
    import keystoneauth1.adapter
    import keystoneauth1.exceptions
    import openstack
    HAS_OPENSTACK = True
    FAULTS = (*FAULTS, keystoneauth1.exceptions.ClientException, openstack.exceptions.SDKException)
except ImportError:
    HAS_OPENSTACK = False

# An answer as a whole may take so many times what Ironic may be silent for.
_ANSWER_TIMES = 4
# A thousand nodes with their inventories have a quarter of it.
ANSWER_LIMIT_BYTES = 256 * 1024 ** 2
_NEVER_SENT = frozenset(["ConnectTimeout", "NewConnectionError"])


def open_adapter(settings: dict[str, Any], timeout_seconds: float) -> Any:
    """Return keystoneauth's adapter for Ironic's API, whose answers end in time and in size.

    :param settings: what :func:`.client.connection_settings` returns
    :param timeout_seconds: what Ironic may be silent for
    :raises IronicError: when openstacksdk finds no usable configuration in it
    """
    try:
        files = [settings["clouds_file"]] if settings["clouds_file"] else None
        if files and not os.path.exists(files[0]):
            raise IronicError(f"clouds_file {files[0]}: found no such file, expected a clouds.yaml",
                              reason="Configuration")
        # With an address at hand, OS_* variables would only add another cloud.
        config = openstack.config.OpenStackConfig(
            config_files=files, load_envvars=not settings["arguments"].get("auth"),
            load_yaml_config=not settings["arguments"].get("auth"))
        region = config.get_one(cloud=settings["cloud"], app_name="metal3.baremetal", **settings["arguments"])
        session = region.get_session()
        # keystoneauth sends the login or token along to wherever an answer redirects it.
        session.redirect = False
        _limit(session.session, timeout_seconds)
        _leave_environment(session.session)
        # Not the SDK's own proxy: it looks for versions first, and then can't tell a refused connection from bad TLS.
        adapter = keystoneauth1.adapter.Adapter(
            session, service_type="baremetal", region_name=region.get_region_name("baremetal"),
            interface=region.get_interface("baremetal"), default_microversion=None)
        base = region.get_endpoint("baremetal") or adapter.get_endpoint()
    except (openstack.exceptions.SDKException, keystoneauth1.exceptions.ClientException) as exc:
        raise IronicError("no usable Ironic given: set cloud (or OS_CLOUD), or endpoint (or OS_ENDPOINT); found: "
                          f"{' '.join(str(exc).split())}", reason="Configuration") from exc
    if not base:
        raise IronicError(f"cloud {settings['cloud']}: found no service of type baremetal, expected one in its catalog "
                          "or baremetal_endpoint_override", reason="Configuration")
    base = base.rstrip("/")
    adapter.endpoint_override = base if base.endswith("/v1") else base + "/v1"
    return adapter


def _limit(session: Any, timeout_seconds: float) -> None:
    """Give each answer an end in time and size, those of a login included."""
    answer_limits.limit_session(session, lambda: timeout_seconds * _ANSWER_TIMES)

    def read(answer: Any, **_options: Any) -> None:
        answer_limits.read_answer(answer, ANSWER_LIMIT_BYTES)

    session.hooks["response"].append(read)


def _leave_environment(session: Any) -> None:
    """Take neither a login of ~/.netrc, in place of the one that was given, nor a proxy for this machine's own servers.

    :param session: a ``requests.Session``
    """
    # Without any, requests looks there. keystoneauth sets its header itself.
    session.auth = lambda request: request
    settings_of = session.merge_environment_settings

    def merged(url: str, *given: Any, **options: Any) -> Any:
        settings = settings_of(url, *given, **options)
        return dict(settings, proxies={}) if proxies.is_of_this_machine(url) else settings

    session.merge_environment_settings = merged


def _never_sent(exc: Any) -> bool:
    """Return whether no connection came about, so that Ironic can't have taken the request."""
    cause = exc.__cause__ or exc.__context__
    reason = getattr(cause.args[0], "reason", None) if cause is not None and cause.args else None
    # By name: keystoneauth's own parts of requests and urllib3, which nothing else here needs.
    return bool(_NEVER_SENT & set(kind.__name__ for error in (cause, reason) for kind in type(error).__mro__))


def no_answer(subject: str, server: str, exc: Any, repeatable: bool) -> IronicError:
    """Return the error for a request that one of :data:`FAULTS` ended.

    :param subject: what the request was for
    :param server: URL of Ironic's API
    :param exc: the fault
    :param repeatable: whether the request may be sent twice
    """
    text = " ".join(str(exc).split())
    if isinstance(exc, (keystoneauth1.exceptions.MissingAuthPlugin, keystoneauth1.exceptions.AuthorizationFailure,
                        keystoneauth1.exceptions.Unauthorized)):
        return IronicError(f"{subject}: no login at Ironic: {text}", reason="Configuration")
    if isinstance(exc, keystoneauth1.exceptions.SSLError):
        return IronicError(f"{subject}: TLS with {server} fails: {text}; set ca_cert to the authority of Ironic's "
                           "certificate, and client_cert and client_key when Ironic asks for one",
                           reason="Configuration")
    if not repeatable and not _never_sent(exc):
        return lost_answer(subject, text)
    return IronicError(f"{subject}: Ironic {server} does not answer; start it, or correct the endpoint: {text}",
                       reason="Unreachable")
