# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of an image server: what is refused, all of it at once."""
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.metal3.baremetal.plugins.filter.image_server_problems import image_server_problems
from ansible_collections.metal3.baremetal.plugins.module_utils._images.cache import server_options

GOOD = {"name": "images", "addresses": ["172.22.0.1", "fd00::1"], "port": 443, "names": [], "directory": "/srv/www",
        "tls": True, "certificate_file": "", "key_file": "", "ca_certificate_file": "", "ca_key_file": "",
        "keep_versions": 1, "images": []}


@pytest.mark.parametrize("change", [
    {}, {"addresses": ["0.0.0.0"], "names": ["images.example.org"]}, {"port": "8443"}, {"tls": False},
    {"certificate_file": "/etc/ssl/a.crt", "key_file": "/etc/ssl/a.key"},
    {"ca_certificate_file": "ca.crt", "ca_key_file": "ca.key"}, {"images": [{"name": "a", "path": "/a"}]}])
def test_nothing_is_wrong_with_what_is_documented(change):
    assert image_server_problems(dict(GOOD, **change)) == ""


@pytest.mark.parametrize("change, field", [
    ({"name": "a b"}, "name"), ({"name": ""}, "name"), ({"name": "../x"}, "name"), ({"name": "a\n"}, "name"),
    ({"addresses": []}, "addresses"), ({"addresses": ["images"]}, "addresses[0]"),
    ({"addresses": ["192.0.2.1", "192.0.2.1"]}, "addresses[1]"), ({"addresses": ["::"]}, "names"),
    ({"names": ["a;b"]}, "names[0]"), ({"port": 0}, "port"), ({"port": "http"}, "port"), ({"port": 65536}, "port"),
    ({"keep_versions": -1}, "keep_versions"), ({"directory": "/"}, "directory"), ({"directory": "/etc/"}, "directory"),
    ({"directory": "/root/images"}, "directory"), ({"directory": "srv"}, "directory"),
    ({"directory": "/srv/../etc"}, "directory"), ({"directory": "/srv/a;b"}, "directory"),
    ({"directory": "//"}, "directory"),
    ({"certificate_file": "/a.crt"}, "key_file"), ({"key_file": "/a.key"}, "certificate_file"),
    ({"ca_key_file": "/a.key"}, "ca_certificate_file"),
    ({"certificate_file": "/a.crt", "key_file": "/a.key", "tls": False}, "certificate_file"),
    ({"certificate_file": "/a.crt", "key_file": "/a.key", "ca_certificate_file": "b", "ca_key_file": "b"},
     "ca_certificate_file"),
    ({"certificate_file": "/a b.crt", "key_file": "/a.key"}, "certificate_file"),
    ({"images": [{"name": "a"}]}, "images[0]")])
def test_what_is_refused(change, field):
    assert [problem.field for problem in server_options.problems(dict(GOOD, **change))] == ["image_server_" + field]


def test_all_mistakes_are_named_at_once():
    text = image_server_problems(dict(GOOD, port=0, directory="/", images=[{"name": "a/b", "path": "c"}]))
    assert text.startswith("4 problems, nothing was changed:\n- image_server_port: found") and "/srv/www" in text


def test_variables_that_are_missing_are_no_traceback():
    with pytest.raises(AnsibleFilterError, match="expected the variables"):
        image_server_problems({"name": "a"})
