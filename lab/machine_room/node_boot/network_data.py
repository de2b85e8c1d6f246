"""What a node's network data asks for that the lab's network has not."""
from __future__ import annotations


def impossible_links(data):
    """Return the links that can't be made as lines of text.

    A node's cables lead to one bridge, where nobody has the other end of a bond or answers on a VLAN: cloud-init would
    make the link, and the node would be without a network for no visible reason.

    :param data: the config drive's ``network_data.json``, in OpenStack's form
    """
    found = []
    for link in data.get("links") or []:
        name = link.get("id") or "a link without id"
        if link.get("type") == "bond":
            found.append("%s is a bond of %s" % (name, ", ".join(link.get("bond_links") or []) or "no link"))
        elif link.get("type") == "vlan":
            found.append("%s is VLAN %s on %s" % (name, link.get("vlan_id", "?"), link.get("vlan_link", "?")))
    return found
