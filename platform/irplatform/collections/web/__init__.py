"""Fetching from servers that fail, throttle and cut off."""

from irplatform.collections.web.pace import Pace
from irplatform.collections.web.request import check_url, request
from irplatform.collections.web.retries import TransientError, persist

__all__ = ["Pace", "TransientError", "check_url", "persist", "request"]
