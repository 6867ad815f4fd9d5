"""Requests signed as AWS wants them, with whatever credentials AWS's own tools would find here.

botocore finds them (environment, profile, single sign-on, role of the machine or container), renews them and signs:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html. It comes with the extra `memproxy[bedrock]`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from memproxy.errors import ProviderBusy, SettingsError

_REGION = re.compile(r"\.([a-z]{2}(?:-[a-z]+)+-\d)\.(?:amazonaws\.com|api\.aws)(?:\.cn)?$")


class Signer:
    """Signs requests for one service in one region."""

    def __init__(self, service: str, base_url: str, places: tuple[str, ...]) -> None:
        """Look for credentials. Raises SettingsError where there are none, no region, or no botocore."""
        try:
            import botocore.session
        except ModuleNotFoundError:
            raise SettingsError(
                "requests that are signed, and for that botocore: pip install 'memproxy[bedrock]'"
            ) from None
        region = _region(base_url) or next((os.environ[name] for name in places if os.environ.get(name)), None)
        if region is None:
            raise SettingsError(f"requests that are signed, and for that a region: {' or '.join(places)}")
        self._service, self._region = service, region
        self._credentials: Any = botocore.session.get_session().get_credentials()
        if self._credentials is None:
            raise SettingsError(
                "requests that are signed, and for that credentials of AWS (AWS_ACCESS_KEY_ID and"
                " AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role)"
            )

    async def headers(self, method: str, url: str, content: bytes) -> Mapping[str, str]:
        """What to add to a request. Raises ProviderBusy where credentials have run out and cannot be renewed now."""
        return await asyncio.to_thread(self._sign, method, url, content)  # renewing them may ask the network

    def _sign(self, method: str, url: str, content: bytes) -> Mapping[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        request = AWSRequest(method, url, {"content-type": "application/json"}, content)
        try:
            SigV4Auth(self._credentials.get_frozen_credentials(), self._service, self._region).add_auth(request)
        except BotoCoreError:
            raise ProviderBusy("no-credentials") from None
        return dict(request.headers.items())


def _region(base_url: str) -> str | None:
    """The region that an address of AWS names."""
    found = _REGION.search(urlsplit(base_url).hostname or "")
    return found[1] if found else None
