# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions of the plane's parts work together; pure data.

Sources: the section "Kubernetes version support" of each Cluster API release's notes; the tables "Compatibility with
Cluster API" of CAPM3 and IPAM; Metal3's page "Supported release versions", table "CI Test Matrix".
"""
from __future__ import annotations

# Minor of Cluster API 1.x: first and last minor of the Kubernetes 1.x that it runs in.
KUBERNETES = {9: (28, 32), 10: (29, 33), 11: (30, 34), 12: (31, 35), 13: (32, 36), 14: (33, 37)}
# First patch of a Cluster API minor that knows a Kubernetes minor.
FIRST_PATCH = {(13, 37): 6}

# Minor of Cluster API 1.x: versions of its contract that providers may implement.
CONTRACTS = {9: ("v1beta1",), 10: ("v1beta1",), 11: ("v1beta1", "v1beta2"), 12: ("v1beta1", "v1beta2"),
             13: ("v1beta1", "v1beta2"), 14: ("v1beta1", "v1beta2")}

# Parts of one release with Cluster API's core.
SAME_VERSION = ("cabpk", "kcp")
# Parts that are released and tested for one minor of Cluster API, and have its number.
SAME_MINOR = ("cabpk", "kcp", "ipam", "capm3")

# Minor of CAPM3 1.x: first and last minor of the Bare Metal Operator 0.x. Upstream tests the first; the operator is
# upgraded before CAPM3, so that the one after it works for that while.
OPERATOR = {9: (9, 10), 10: (10, 11), 11: (11, 12), 12: (12, 13), 13: (13, 14), 14: (14, 15)}

# Minors that a part may be upgraded over at once. Cluster API's by its page "Cluster API and Kubernetes version
# support"; Metal3 and cert-manager test the step from one minor to the next only.
# Each release of Ironic has a major of its own; which of them its database can come from is ironic-dbsync's to say.
STEP = {"capi": 3, "cabpk": 3, "kcp": 3, "ironic": 1000}
OTHER_STEP = 1
# Last minor of CAPM3 1.x that knows provider IDs with a host's UID alone; release notes of v1.13.0.
LEGACY_PROVIDER_ID = 13
