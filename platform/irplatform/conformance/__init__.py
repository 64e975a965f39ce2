"""Checks that plugins keep the contract of `irplatform.plugin`: `platform plugins check`."""

from irplatform.conformance.check import CheckSettings, check_plugin

__all__ = ["CheckSettings", "check_plugin"]
