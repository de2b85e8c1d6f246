# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of Sphinx for the documentation site; nothing is downloaded for building it."""
from __future__ import annotations

import re

from docutils import nodes

project = "metal3.baremetal"
copyright = "metal3.baremetal contributors"
title = html_short_title = "metal3.baremetal"
extensions = ["sphinx_antsibull_ext"]
pygments_style = "ansible"
highlight_language = "YAML+Jinja"
html_theme = "sphinx_ansible_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_use_index = False
html_copy_source = False
default_role = "any"

ANSIBLE = "https://docs.ansible.com/projects/ansible/devel/"
# What the pages refer to in Ansible's own documentation: label, page.
LABELS = {
    "action_plugins": "plugins/action.html#action-plugins",
    "ansible_configuration_settings": "reference_appendices/config.html#ansible-configuration-settings",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values",
}
PLUGIN = re.compile(r"ansible_collections\.ansible\.builtin\.([a-z0-9_]+)$")


def ansible_reference(_app, _environment, node, content):
    """Return a link to Ansible's documentation, None for what is not there."""
    label = node.get("reftarget", "")
    match = PLUGIN.match(label)
    page = f"collections/ansible/builtin/{match.group(1)}.html" if match else LABELS.get(label)
    if page is None:
        return None
    return nodes.reference("", "", content, internal=False, refuri=ANSIBLE + page)


def setup(app):
    """Tell Sphinx where other references lead to."""
    app.connect("missing-reference", ansible_reference)
