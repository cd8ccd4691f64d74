"""The files of a form: read from what was chosen, or from what the page carried since the last request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings as django_settings
from django.core import signing
from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from agentstore.conf import settings
from agentstore.core import errors
from agentstore.files.archive import Packed, read_packed, read_zip

__all__ = ["chosen_files", "keep_paths", "pack", "placed", "uploads_of"]

#: What a zip may be larger than the files in it: headers, paths, the manifest.
OVERHEAD = 8 * 1024 * 1024
#: What a page may carry where the host sets no limit on a form, and what the form's other inputs take.
MOST_CARRIED, OTHERS = 2_500_000, 100_000
SALT = "agentstore.files.import"
_PATHS, _TOO_MANY = "_agentstore_paths", "_agentstore_too_many"


class PathKeeper(MultiPartParser):
    """Parses a form as Django does, and keeps the paths of its files, of which Django leaves the names.

    Of a form with more files than the host takes it keeps what comes before them: the page says so.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.paths: list[str] = []
        self.too_many = False

    def parse(self) -> Any:
        try:
            return super().parse()
        except TooManyFilesSent:
            self.too_many = True
            # Django has no public way to go on after this refusal: these are its parser's own attributes.
            while self._input_data.read(self._chunk_size):  # type: ignore[attr-defined]
                pass  # a browser shows the answer only when it could send all of the form
            self._post._mutable = False  # type: ignore[attr-defined]
            return self._post, MultiValueDict()  # type: ignore[attr-defined]

    def sanitize_file_name(self, file_name: str) -> str | None:
        name = super().sanitize_file_name(file_name)
        if name is not None:
            self.paths.append(file_name)
        return name


def keep_paths(request: HttpRequest) -> None:
    """Have the form of a request parsed by a ``PathKeeper``, unless somebody had it parsed already."""

    def parse(environ: Any, body: Any) -> Any:
        parser = PathKeeper(environ, body, request.upload_handlers, request.encoding)
        form = parser.parse()
        request.__dict__[_PATHS], request.__dict__[_TOO_MANY] = parser.paths, parser.too_many
        return form

    request.__dict__["parse_file_upload"] = parse


def chosen_files(request: HttpRequest) -> dict[str, str]:
    """Return name -> content of what was chosen, else of what the page carried.

    Raises:
        ValidationFailed: nothing was chosen, or something that may not be a file.
        TooLarge: it is more than an agent may have, or more files than the host takes in one form.
    """
    if request.__dict__.get(_TOO_MANY):
        most = f"{django_settings.DATA_UPLOAD_MAX_NUMBER_FILES:,}"
        raise errors.TooLarge(
            _("This server takes at most %s files in one form.") % most, hint=_("Pack them as a zip.")
        )
    chosen = uploads_of(request)
    return _uploaded(request, chosen) if chosen else _unpack(request.POST.get("packed", ""))


def uploads_of(request: HttpRequest) -> list[UploadedFile[Any]]:
    """Return the files that the form itself brings."""
    return [*request.FILES.getlist("files"), *request.FILES.getlist("folder_files")]


def placed(files: Mapping[str, str], folder: str) -> Mapping[str, str]:
    """Return the files with their names below a folder; an empty one leaves them alone."""
    if not folder:
        return files
    return {f"{folder.removesuffix('/')}/{name}": content for name, content in files.items()}


def _uploaded(request: HttpRequest, uploads: Sequence[UploadedFile[Any]]) -> dict[str, str]:
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
    paths = _paths(request, uploads)
    return read_packed(
        Packed(path=path, size=upload.size or 0, read=partial(_read, upload))
        for path, upload in zip(paths, uploads, strict=True)
    )


def _read(upload: UploadedFile[Any], most: int) -> bytes:
    """Return the beginning of an upload, also of one that was read before."""
    upload.seek(0)
    found: bytes = upload.read(most)
    return found


def _paths(request: HttpRequest, uploads: Sequence[UploadedFile[Any]]) -> list[str]:
    """Return where each file belongs: its name, or for one of a chosen folder its path below that."""
    single = len(request.FILES.getlist("files"))
    sent: list[str] = request.__dict__.get(_PATHS, [])
    if len(sent) != len(uploads):
        if single < len(uploads):
            raise errors.ValidationFailed(
                _("The paths of the folder’s files did not arrive."), hint=_("Pack the folder as a zip.")
            )
        return [str(upload.name) for upload in uploads]
    names = [re.split(r"[/\\]", path)[-1] for path in sent[:single]]  # some programs send C:\\x\\SOUL.md
    return [*names, *(path.split("/", 1)[-1] for path in sent[single:])]


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
