/* Files of Windows. Paths are UTF-8. */
#include "base/system/file_io.h"

#include "base/system/utf16.h"

#if defined(MXL_WINDOWS) && !defined(MXL_NO_FILES)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <io.h>
#include <sys/stat.h>
#include <wchar.h>

/* Windows takes paths of more than 260 characters if they are whole and begin so. */
static bool mark_as_long(wchar_t wide[MXL_WIDE_ROOM])
{
    static const wchar_t local[] = L"\\\\?\\", remote[] = L"\\\\?\\UNC";
    wchar_t whole[MXL_WIDE_ROOM];
    DWORD length = GetFullPathNameW(wide, MXL_WIDE_ROOM, whole, NULL);
    bool marked, network;

    if (length == 0 || length + 8 > MXL_WIDE_ROOM) {
        SetLastError(ERROR_FILENAME_EXCED_RANGE);
        errno = ENAMETOOLONG;
        return false;
    }
    marked = wcsncmp(whole, local, 4) == 0;
    network = !marked && whole[0] == L'\\' && whole[1] == L'\\';
    wcscpy(wide, marked ? L"" : network ? remote : local);
    wcscat(wide, network ? whole + 1 : whole);
    return true;
}

bool mxl_utf16(wchar_t wide[MXL_WIDE_ROOM], const char *path)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MXL_WIDE_ROOM) > 0)
        return wcslen(wide) < MAX_PATH - 12 || mark_as_long(wide);
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EINVAL;
    return false;
}

static bool is_folder(const wchar_t *wide)
{
    DWORD attributes = GetFileAttributesW(wide);

    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

void mxl_wide_errno(void)
{
    static const struct {
        DWORD system;
        int number;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},    {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},      {ERROR_ACCESS_DENIED, EACCES},
                 {ERROR_SHARING_VIOLATION, EACCES}, {ERROR_WRITE_PROTECT, EROFS},
                 {ERROR_FILE_EXISTS, EEXIST},       {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_DISK_FULL, ENOSPC},         {ERROR_HANDLE_DISK_FULL, ENOSPC},
                 {ERROR_DIRECTORY, ENOTDIR},        {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG}};
    DWORD last = GetLastError();

    errno = EIO;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (known[i].system == last)
            errno = known[i].number;
    }
}

bool mxl_file_exists(const char *path)
{
    wchar_t wide[MXL_WIDE_ROOM];

    return mxl_utf16(wide, path) && _waccess(wide, 0) == 0;
}

FILE *mxl_file_open(const char *path, bool wait, mxl_file_kind *kind, size_t *size)
{
    wchar_t wide[MXL_WIDE_ROOM];
    struct __stat64 info;
    FILE *file;

    (void)wait;
    if (!mxl_utf16(wide, path))
        return NULL;
    file = _wfopen(wide, L"rbN");
    if (file == NULL && is_folder(wide)) {
        errno = EISDIR;
        if (kind == NULL)
            return NULL;
        *kind = MXL_FILE_FOLDER; /* as elsewhere a stream, which has nothing to read */
        return _wfopen(L"NUL", L"rbN");
    }
    if (file == NULL)
        return NULL;
    if (_fstat64(_fileno(file), &info) != 0) {
        (void)fclose(file);
        return NULL;
    }
    if (kind != NULL)
        *kind = (info.st_mode & S_IFMT) == S_IFREG ? MXL_FILE_REGULAR : MXL_FILE_OTHER;
    if (size != NULL)
        *size = (size_t)info.st_size;
    return file;
}

static HANDLE handle_of(FILE *file)
{
    return (HANDLE)_get_osfhandle(_fileno(file));
}

bool mxl_file_is_pipe(FILE *file)
{
    return GetFileType(handle_of(file)) != FILE_TYPE_DISK;
}

int64_t mxl_file_read_at(FILE *file, bool pipe, void *to, size_t wanted, uint64_t at)
{
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    const size_t most = (size_t)1 << 30;
    DWORD got;

    if (ReadFile(handle_of(file), to, (DWORD)(wanted < most ? wanted : most), &got,
                 pipe ? NULL : &place) != 0)
        return got;
    if (GetLastError() == ERROR_HANDLE_EOF || GetLastError() == ERROR_BROKEN_PIPE)
        return 0;
    mxl_wide_errno();
    return -1;
}

void mxl_file_cut(FILE *file, uint64_t at)
{
    clearerr(file);
    if (_chsize_s(_fileno(file), (int64_t)at) == 0)
        (void)_fseeki64(file, (int64_t)at, SEEK_SET);
}

int mxl_file_descriptor(FILE *file)
{
    return _fileno(file);
}
#endif
