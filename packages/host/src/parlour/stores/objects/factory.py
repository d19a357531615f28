"""Opens the object store that the settings name. The HTTP client is imported only when it is needed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from parlour.core.journal import StorageFailed
from parlour.core.store.objects import ObjectStore

from .folder import FolderObjects
from .signature import S3Account


@asynccontextmanager
async def open_object_store(folder: Path, account: S3Account | None) -> AsyncIterator[ObjectStore]:
    """Opens S3-compatible storage with this account, or else the folder. With S3, the folder holds pending uploads."""
    if account is not None:
        async with _s3(account, folder / "sending") as objects:
            yield objects
        return
    folder_store = FolderObjects(folder)
    try:
        yield folder_store
    finally:
        folder_store.close()


@asynccontextmanager
async def _s3(account: S3Account, spool_folder: Path) -> AsyncIterator[ObjectStore]:
    try:
        import httpx
    except ModuleNotFoundError as error:
        raise StorageFailed(
            "storage_driver_missing",
            "artifacts.store is s3, and the package httpx is not installed: "
            "install it with pip install 'parlour[s3]', or set artifacts.store to folder.",
        ) from error
    from .s3 import S3Objects
    from .s3_client import S3Client

    async with httpx.AsyncClient() as http:
        objects = S3Objects(S3Client(account, http), account.prefix, spool_folder)
        try:
            yield objects
        finally:
            objects.close()
