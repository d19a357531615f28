"""Downloads files that are stored as links, from public and allowed addresses, with limits on size and time.

A link may contain a key to its file, so no message quotes it. The HTTP client is imported on first use.
"""

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifacts import Location
from parlour.network.address_guard import AddressAllowlist, AddressRefused, find_guard_error, guarded_connector

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MAX_REDIRECTS = 5
CHUNK_BYTES = 65_536
NOT_PUBLIC = "it is at an address that is not public; the operator can allow it by tools.allowed_addresses"


class LinkClient:
    """Downloads files by link."""

    def __init__(self, allowed: Iterable[str], largest: int, seconds: float) -> None:
        self._allowed = AddressAllowlist.parse(allowed)
        self._largest = largest
        self._seconds = seconds

    async def fetch(self, location: Location, reference: str) -> AsyncIterator[bytes]:
        """Yields the content of a file in chunks. Raises ProviderFailed."""
        from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar

        if location != "url" or not reference.lower().startswith(("http://", "https://")):
            raise _failure("it is kept by a name that only its platform knows")
        try:
            async with (
                ClientSession(
                    connector=guarded_connector(self._allowed),
                    cookie_jar=DummyCookieJar(),
                    timeout=ClientTimeout(total=self._seconds),
                ) as session,
                session.get(reference, max_redirects=MAX_REDIRECTS) as response,
            ):
                _check(response)
                async for piece in self._limit_size(response):
                    yield piece
        except ValueError:
            raise _failure("its link is no address") from None
        except TimeoutError:
            raise _failure(f"it did not come within {self._seconds:g} s", retryable=True) from None
        except (ClientError, OSError) as error:
            is_refused = isinstance(find_guard_error(error), AddressRefused)
            reason = NOT_PUBLIC if is_refused else f"its place can't be reached ({type(error).__name__})"
            raise _failure(reason, retryable=not is_refused) from None

    async def _limit_size(self, response: "ClientResponse") -> AsyncIterator[bytes]:
        size = response.content_length or 0
        received = 0
        async for piece in response.content.iter_chunked(CHUNK_BYTES):
            received += len(piece)
            if max(size, received) > self._largest:
                sentence = f"a file that is kept as a link is not fetched: it has more than {self._largest} bytes"
                raise ProviderFailed("payload_too_large", sentence)
            yield piece


def _check(response: "ClientResponse") -> None:
    if response.status != 200:
        reason = f"its place answered {response.status}"
        raise _failure(
            f"{reason}; such links expire" if response.status < 500 else reason, retryable=response.status >= 500
        )


def _failure(reason: str, retryable: bool = False) -> ProviderFailed:
    return ProviderFailed("runtime_error", f"a file that is kept as a link could not be fetched: {reason}", retryable)
