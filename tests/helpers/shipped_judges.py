"""The judges that come with the platform, also where the entry point is not installed yet."""

import irplatform_judges
from irplatform.registry.registration import Plugin, Registration

PLUGIN = Plugin("judges", "irplatform", "0.2.0")


def shipped_judges():
    """What the registry holds for each, by name."""
    judges = {}

    def register(name, place, **defaults):
        judges[name] = Registration(name, "judge", place, defaults, PLUGIN)

    irplatform_judges.register_judges(register)
    return judges
