"""Whether plugins keep the contract of `irplatform.plugin`: `platform plugins check`."""

from irplatform.conformance.check import CheckSettings, check_plugin
from irplatform.conformance.finding import Finding

__all__ = ["CheckSettings", "Finding", "check_plugin"]
