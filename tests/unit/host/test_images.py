# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images are asked for before a host is provisioned, and what is said of those that are not there."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting import parallel
from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import images as host_images

SUM = "a" * 64


def entry(name, url="http://192.0.2.1/node.raw", checksum="http://192.0.2.1/node.sum", **values):
    return dict({"name": name, "image": {"url": url, "checksum": checksum}}, **values)


def stored(url, checksum):
    return {"spec": {"image": {"url": url, "checksum": checksum}}}


class Web:
    """An image server; ``files`` by URL."""

    def __init__(self, **files):
        self.files = dict(("http://192.0.2.1/" + name.replace("_", "."), text) for name, text in files.items())
        self.asked = []

    def fetch(self, url, limit):
        self.asked.append(url)
        if url not in self.files:
            raise OSError("HTTP 404 Not Found")
        return self.files[url].encode()[:limit]


def problems_of(web, hosts, current=None):
    return host_images.problems(hosts, current or {}, web.fetch, parallel.run)


def test_what_is_there_is_fine_and_asked_for_once():
    web = Web(node_raw="", node_sum=SUM + "  node.raw")
    assert problems_of(web, [entry("h1"), entry("h2"), {"name": "h3"}, entry("h4", state="absent")]) == []
    assert sorted(web.asked) == ["http://192.0.2.1/node.raw", "http://192.0.2.1/node.sum"]


def test_the_type_auto_is_that_of_the_checksums_length():
    web = Web(node_raw="", node_sum=SUM + "  node.raw")
    of_type = [dict(entry("h1")["image"], checksum_type=kind) for kind in ("auto", "sha256", "md5")]
    assert [len(problems_of(web, [{"name": "h1", "image": image}])) for image in of_type] == [0, 0, 1]


@pytest.mark.parametrize("files, field, seen, expected", [
    ({"node_sum": SUM}, "image.url", "http://192.0.2.1/node.raw: HTTP 404 Not Found", "that can be downloaded"),
    ({"node_raw": ""}, "image.checksum", "http://192.0.2.1/node.sum: HTTP 404 Not Found", "that can be downloaded"),
    ({"node_raw": "", "node_sum": SUM + "  other.raw\n" + SUM + "  more.raw"}, "image.checksum",
     "http://192.0.2.1/node.sum without node.raw", "a line for the image"),
    ({"node_raw": "", "node_sum": "abc  node.raw"}, "image.checksum (http://192.0.2.1/node.sum)", '"abc"',
     "32, 64 or 128 hexadecimal digits"),
])
def test_what_is_wrong_with_an_image_is_reported_for_each_host(files, field, seen, expected):
    problems = problems_of(Web(**files), [entry("h1"), entry("h2")])
    assert [(problem.subject, problem.field, problem.actual) for problem in problems] == [
        ("h1", field, seen), ("h2", field, seen)]
    assert all(expected in problem.expected for problem in problems)
    # It becomes part of a text.
    assert all(problem.hint for problem in problems)


def test_an_image_that_a_host_has_already_is_not_asked_for():
    web = Web()
    current = {"h1": stored("http://192.0.2.1/node.raw", "http://192.0.2.1/node.sum")}
    assert problems_of(web, [entry("h1")], current) == [] and web.asked == []
    assert problems_of(web, [entry("h1", url="http://192.0.2.1/new.raw")], current) and web.asked
