"""The files of a form: read from what was chosen, or from what the page carried since the last request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings as django_settings
from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils.translation import gettext as _

from agentstore.conf import settings
from agentstore.core import errors
from agentstore.files.archive import Packed, read_packed, read_zip

__all__ = ["chosen_files", "pack", "placed"]

#: What a zip may be larger than the files in it: headers, paths, the manifest.
OVERHEAD = 8 * 1024 * 1024
#: What a page may carry where the host sets no limit on a form, and what the form's other inputs take.
MOST_CARRIED, OTHERS = 2_500_000, 100_000
SALT = "agentstore.files.import"


def chosen_files(request: HttpRequest) -> dict[str, str]:
    """Return name -> content of what was chosen, else of what the page carried.

    Raises:
        ValidationFailed: nothing was chosen, or something that may not be a file.
        TooLarge: it is more than an agent may have.
    """
    uploads = request.FILES.getlist("files")
    return _uploaded(uploads) if uploads else _unpack(request.POST.get("packed", ""))


def placed(files: Mapping[str, str], folder: str) -> Mapping[str, str]:
    """Return the files with their names below a folder; an empty one leaves them alone."""
    if not folder:
        return files
    return {f"{folder.removesuffix('/')}/{name}": content for name, content in files.items()}


def _uploaded(uploads: Sequence[UploadedFile[Any]]) -> dict[str, str]:
    most = settings.FILE_MAX_AGENT_BYTES + OVERHEAD
    if sum(upload.size or 0 for upload in uploads) > most:
        raise errors.TooLarge(
            _("These files have more than %s bytes together.") % f"{most:,}", hint=_command()
        )
    zips = [upload for upload in uploads if str(upload.name).lower().endswith(".zip")]
    if zips and len(uploads) > 1:
        raise errors.ValidationFailed(
            _("A zip was chosen beside other files."), hint=_("Choose one zip, or files.")
        )
    if zips:
        return read_zip(zips[0].read())
    return read_packed(
        Packed(path=str(upload.name), size=upload.size or 0, read=upload.read) for upload in uploads
    )


def _command() -> str:
    return _("Import them with manage.py agentstore_files_import.")


def pack(files: Mapping[str, str]) -> str:
    """Return files as signed text that a form carries to the next request.

    Raises:
        TooLarge: the host takes no form of that size.
    """
    packed: str = signing.dumps(dict(files), salt=SALT, compress=True)
    most = (django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE or MOST_CARRIED) - OTHERS
    if len(packed) > most:
        raise errors.TooLarge(_("These files are too much for this page."), hint=_command())
    return packed


def _unpack(packed: str) -> dict[str, str]:
    try:
        files: dict[str, str] = signing.loads(packed, salt=SALT)
    except signing.BadSignature:
        raise errors.ValidationFailed(_("No files were chosen."), hint=_("Choose a zip, or files.")) from None
    return files
