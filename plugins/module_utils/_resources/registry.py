# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All families by kind; pure."""
from __future__ import annotations

from .data_image import DataImage
from .event_subscription import EventSubscription
from .firmware_components import FirmwareComponents
from .firmware_settings import FirmwareSettings
from .hardware_data import HardwareData
from .host_claim import HostClaim
from .policies import DeployPolicy, UpdatePolicy
from .preprovisioning_image import PreprovisioningImage

FAMILIES = dict((family.kind, family) for family in (
    DataImage(), DeployPolicy(), EventSubscription(), FirmwareComponents(), FirmwareSettings(), HardwareData(),
    HostClaim(), PreprovisioningImage(), UpdatePolicy()))
