"""How NCBI's E-utilities are called: where, in whose name, how often.

The rules are NCBI's (https://www.ncbi.nlm.nih.gov/books/NBK25497/): at most three calls a second,
ten with an API key, and every call names the tool and an e-mail address, so that NCBI can get in
touch before it blocks anybody.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from irplatform.collections.web import check_url
from irplatform.errors import InputError

BATCH = 200
"""Articles a call. NCBI asks for POST beyond that many ids."""
NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
_TOOL = "irplatform"
_RATE = 3.0
_RATE_WITH_KEY = 10.0


@dataclass(frozen=True)
class Access:
    """Where to call, and how.

    Attributes:
        url: base of the E-utilities.
        rate: most calls in a second.
        identity: parameters that every call carries: tool, and email and api_key if there are any.
    """

    url: str
    rate: float
    identity: dict[str, str]

    @property
    def anonymous(self) -> bool:
        """Whether NCBI would not know whom to write to."""
        return self.url == NCBI and "email" not in self.identity

    def __str__(self) -> str:
        key = " with NCBI_API_KEY" if "api_key" in self.identity else ""
        return f"{self.url}, at most {self.rate:g} calls a second{key}"


def access(email: str | None = None, rate: float | None = None) -> Access:
    """How to call, from the environment: `NCBI_API_KEY`, and `IRPLATFORM_EUTILS_URL` for a mirror.

    Args:
        email: the user's address.
        rate: calls a second instead of NCBI's 3 or 10; more than those only elsewhere.

    Raises:
        InputError: the address or the URL is none, or NCBI does not allow the rate.
    """
    url = check_url(os.environ.get("IRPLATFORM_EUTILS_URL") or NCBI, "IRPLATFORM_EUTILS_URL")
    key = os.environ.get("NCBI_API_KEY", "").strip()
    allowed = _RATE_WITH_KEY if key else _RATE
    if rate is not None and not 0 < rate < float("inf"):
        raise InputError("--rate must be a number above 0.")
    if rate is not None and rate > allowed and url == NCBI:
        hint = "" if key else f" With an API key in NCBI_API_KEY it takes {_RATE_WITH_KEY:g}."
        raise InputError(f"NCBI takes {allowed:g} calls a second, not {rate:g}.{hint}")
    identity = {"tool": _TOOL}
    if email:
        if not all(email.partition("@")) or email.split() != [email]:
            raise InputError(f"--email: {email!r} is not an e-mail address.")
        identity["email"] = email
    if key:
        identity["api_key"] = key
    return Access(url, rate or allowed, identity)
