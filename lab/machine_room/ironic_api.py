"""The three calls that an agent makes to Ironic; they need no credentials."""
from __future__ import annotations

import urllib.parse

# What ironic-python-agent 13 sends with each.
LOOKUP_VERSION = "1.62"
HEARTBEAT_VERSION = "1.68"
VERSION_HEADER = "X-OpenStack-Ironic-API-Version"


class IronicApi:
    """The part of Ironic that an agent uses.

    :param web: a Web
    :param url: Ironic's URL without ``/v1``
    """

    def __init__(self, web, url):
        self._web = web
        self._url = url.rstrip("/")

    def lookup(self, macs):
        """Return the Answer to a lookup by MAC addresses: ``node`` and ``config``; 404 until Ironic expects the agent.

        :raises Unreachable: without an answer
        """
        query = urllib.parse.urlencode({"addresses": ",".join(macs)})
        return self._web.request(f"{self._url}/v1/lookup?{query}", headers={VERSION_HEADER: LOOKUP_VERSION})

    def heartbeat(self, node_uuid, body):
        """Return the Answer to a heartbeat; 202 is success, 409 a locked node.

        :param body: callback_url, agent_version, agent_token, agent_verify_ca
        :raises Unreachable: without an answer
        """
        return self._web.request(f"{self._url}/v1/heartbeat/{node_uuid}", "POST", body,
                                 {VERSION_HEADER: HEARTBEAT_VERSION})


def continue_inspection(web, url, data):
    """Return the Answer to inspection data; 404 means that no inspection waits for this machine (yet).

    :param url: what Ironic put on the kernel command line as ``ipa-inspection-callback-url``
    :raises Unreachable: without an answer
    """
    return web.request(url, "POST", data)
