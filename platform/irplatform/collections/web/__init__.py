"""Fetching from servers that fail, throttle and cut off."""

from irplatform.collections.web.rate_limit import RateLimiter
from irplatform.collections.web.request import check_url, request
from irplatform.collections.web.retries import TransientError, with_retries

__all__ = ["RateLimiter", "TransientError", "check_url", "request", "with_retries"]
