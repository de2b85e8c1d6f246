# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Annotations by which cert-manager writes an authority into what names a webhook; pure."""
from __future__ import annotations

BY_CERTIFICATE = "cert-manager.io/inject-ca-from"
# cert-manager's own webhooks.
BY_SECRET = "cert-manager.io/inject-ca-from-secret"
ALL = (BY_CERTIFICATE, BY_SECRET)
