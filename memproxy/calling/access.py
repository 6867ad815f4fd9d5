"""Where a provider is and what opens it: a setting, else the provider's usual environment variable, else an error."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from memproxy.calling.aws import Signer
from memproxy.errors import SettingsError
from memproxy.settings import Secret


@dataclass(frozen=True, slots=True)
class Access:
    """How a provider is reached, as data."""

    address: str | None = None  # base URL; may hold `{place}`; None: the setting names it
    places: tuple[str, ...] = ()  # variables that name the place, where the address differs by account or region
    variables: tuple[str, ...] = ()  # variables that usually hold the key
    header: str = "authorization"
    prefix: str = "Bearer "
    keyless: bool = False  # answers without a key, too
    fixed: tuple[tuple[str, str], ...] = ()  # headers of every call
    signed: str | None = None  # AWS's name of a service that takes signed requests where there is no key


@dataclass(frozen=True, slots=True)
class Opened:
    """A base URL, and the headers that authorise calls to it."""

    base_url: str
    headers: Mapping[str, str]
    signer: Signer | None = None


def resolve(
    section: str,
    provider: str,
    access: Access,
    base_url: str | None,
    api_key: Secret | None,
    environ: Mapping[str, str] = os.environ,
) -> Opened:
    """Where to call and as whom; `section` is that of the settings ("llm", "embed").

    A key from the environment goes to the provider's own address only: whoever sets another one names the key, too.
    Raises SettingsError that names the setting and the variable that would help.
    """
    address = base_url or _address(section, provider, access, environ)
    key = api_key.reveal() if api_key is not None else _usual_key(section, access, address, environ)
    if key is None and access.signed is not None:
        try:
            return Opened(address, dict(access.fixed), Signer(access.signed, address, access.places))
        except SettingsError as error:
            keys = ", ".join((f"MEMG_{section.upper()}_API_KEY", *access.variables))
            raise SettingsError(f"{section}.api_key: provider {provider} needs a key ({keys}), or {error}") from None
    if key is None and not access.keyless:
        or_else = f", nor {' nor '.join(access.variables)}" if access.variables else ""
        raise SettingsError(
            f"{section}.api_key: provider {provider} needs a key, and neither MEMG_{section.upper()}_API_KEY"
            f" ({section}.api_key){or_else} is set"
        )
    headers = dict(access.fixed)
    return Opened(address, headers if key is None else {**headers, access.header: access.prefix + key})


def _address(section: str, provider: str, access: Access, environ: Mapping[str, str]) -> str:
    if access.address is None:
        raise SettingsError(f"{section}.base_url: provider {provider} has no address of its own; set it")
    if not access.places:
        return access.address
    place = next((found for name in access.places if (found := environ.get(name, "").strip())), None)
    if place is None:
        named = " nor ".join(access.places)
        raise SettingsError(f"{section}.base_url: where is {provider}? Neither the setting nor {named} is set")
    return access.address.replace("{place}", place)


def _usual_key(section: str, access: Access, address: str, environ: Mapping[str, str]) -> str | None:
    name = next((name for name in access.variables if environ.get(name, "").strip()), None)
    if name is None:
        return None
    if not is_own(access, address):
        if access.keyless:
            return None
        raise SettingsError(
            f"{section}.api_key: {name} is not sent to {urlsplit(address).hostname} unasked; "
            f'set {section}.api_key to "env:{name}" if it belongs there'
        )
    return environ[name].strip()


def is_own(access: Access, address: str) -> bool:
    """Whether an address is the provider's own: always, where each customer has one."""
    if access.address is None:
        return False
    if access.places:
        return True
    return urlsplit(address).hostname == urlsplit(access.address).hostname
