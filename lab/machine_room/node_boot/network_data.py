"""What a node's network data asks for that the lab's network has not."""
from __future__ import annotations


def impossible_links(data):
    """Return the links that can't be made as lines of text.

    A node's cables lead to one bridge, where nobody has the other end of a bond or answers on a VLAN: cloud-init would
    make the link, and the node would be without a network for no visible reason.

    :param data: the config drive's ``network_data.json``, in OpenStack's form; cloud-init reports what else is wrong
        with it
    """
    links = data.get("links") if isinstance(data, dict) else None
    found = []
    for link in links if isinstance(links, list) else []:
        if not isinstance(link, dict):
            continue
        name = link.get("id") or "a link without id"
        if link.get("type") == "bond":
            members = link.get("bond_links")
            names = ", ".join(str(member) for member in members) if isinstance(members, list) else ""
            found.append(f"{name} is a bond of {names or 'no link'}")
        elif link.get("type") == "vlan":
            found.append(f"{name} is VLAN {link.get('vlan_id', '?')} on {link.get('vlan_link', '?')}")
    return found
