"""Checks that plugins keep the contract of `irplatform.plugin`: `platform plugins check`."""
