/* Replacing files on Windows. A temporary file whose process has ended is a leftover. */
#include "base/system/replace.h"

#include "base/system/utf16.h"

#if defined(MXL_WINDOWS) && !defined(MXL_NO_FILES)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/process.h"

static int cannot_open(const char *path)
{
    return mxl_replace_failed(path, "cannot be opened for writing");
}

/* Where the file name of a path begins. */
static const char *name_of(const char *path)
{
    const char *name = path;

    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\' || *at == ':')
            name = at + 1;
    }
    return name;
}

static void remove_beside(const char *path, const char *name)
{
    char found[MXL_PATH_ROOM];
    wchar_t wide[MXL_WIDE_ROOM];
    size_t folder = (size_t)(name_of(path) - path);

    if (folder + strlen(name) >= sizeof(found))
        return;
    memcpy(found, path, folder);
    strcpy(found + folder, name);
    if (mxl_utf16(wide, found))
        (void)DeleteFileW(wide);
}

/* Whether the process of a temporary file's name runs, or may. */
static bool is_written(const char *name, const char *base)
{
    DWORD process = strtoul(name + strlen(base) + 1, NULL, 10);
    HANDLE opened = OpenProcess(SYNCHRONIZE, FALSE, process);
    bool runs;

    if (opened == NULL)
        return GetLastError() == ERROR_ACCESS_DENIED;
    runs = WaitForSingleObject(opened, 0) == WAIT_TIMEOUT;
    (void)CloseHandle(opened);
    return runs;
}

static void remove_leftovers(const char *path)
{
    const char *base = name_of(path);
    char pattern[MXL_PATH_ROOM], name[MXL_PATH_ROOM];
    wchar_t wide[MXL_WIDE_ROOM];
    WIN32_FIND_DATAW entry;
    HANDLE search;

    (void)snprintf(pattern, sizeof(pattern), "%.*s.*.tmp", MXL_REPLACE_ROOM, path);
    search = mxl_utf16(wide, pattern) ? FindFirstFileW(wide, &entry) : INVALID_HANDLE_VALUE;
    if (search == INVALID_HANDLE_VALUE)
        return;
    do {
        if (WideCharToMultiByte(CP_UTF8, 0, entry.cFileName, -1, name, sizeof(name), NULL, NULL) >
                0 &&
            mxl_replace_is_temporary(name, base) && !is_written(name, base))
            remove_beside(path, name);
    } while (FindNextFileW(search, &entry) != 0);
    (void)FindClose(search);
}

/* Removes the temporary file; errno stays. */
static void discard(const mxl_replace *r)
{
    int why = errno;

    remove_beside(r->path, name_of(r->temporary));
    errno = why;
}

/* Makes a stream that writes to a file of Windows, which is closed on failure. */
static int open_stream(mxl_replace *r, HANDLE file)
{
    int fd =
        file == INVALID_HANDLE_VALUE ? -1 : _open_osfhandle((intptr_t)file, _O_WRONLY | _O_BINARY);

    if (file == INVALID_HANDLE_VALUE)
        mxl_wide_errno();
    else if (fd < 0)
        (void)CloseHandle(file);
    r->file = fd < 0 ? NULL : _fdopen(fd, "wb");
    if (r->file == NULL && fd >= 0)
        (void)_close(fd);
    return r->file != NULL ? 0 : cannot_open(r->path);
}

static int open_as_it_is(mxl_replace *r, const wchar_t *wide)
{
    r->lock = -1;
    return open_stream(r, CreateFileW(wide, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS,
                                      FILE_ATTRIBUTE_NORMAL, NULL));
}

static int open_beside(mxl_replace *r)
{
    static atomic_uint counter;
    wchar_t wide[MXL_WIDE_ROOM];

    for (int tries = 0; tries < 100; tries++) {
        HANDLE file;

        mxl_replace_name(r, r->owner, atomic_fetch_add(&counter, 1));
        if (!mxl_utf16(wide, r->temporary))
            return cannot_open(r->path);
        file = CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        if (file != INVALID_HANDLE_VALUE) {
            r->lock = 1;
            if (open_stream(r, file) == 0)
                return 0;
            discard(r);
            return -1;
        }
        mxl_wide_errno();
        if (errno != EEXIST)
            return mxl_replace_failed(r->path, "no file can be made beside it");
    }
    errno = EEXIST;
    return mxl_replace_failed(r->path, "no file can be made beside it, 100 names are taken");
}

/* NUL, a console, a pipe: nothing that could be replaced. */
static bool is_device(const wchar_t *wide)
{
    HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    DWORD type = file == INVALID_HANDLE_VALUE ? FILE_TYPE_DISK : GetFileType(file);

    if (file != INVALID_HANDLE_VALUE)
        (void)CloseHandle(file);
    return type == FILE_TYPE_CHAR || type == FILE_TYPE_PIPE;
}

static int begin(mxl_replace *r, const char *path, bool stream)
{
    WIN32_FILE_ATTRIBUTE_DATA old;
    wchar_t wide[MXL_WIDE_ROOM];
    bool exists;

    r->owner = mxl_process_id();
    if (strlen(path) >= MXL_REPLACE_ROOM) {
        errno = ENAMETOOLONG;
        return cannot_open(path);
    }
    strcpy(r->path, path);
    if (!mxl_utf16(wide, path))
        return cannot_open(path);
    exists = GetFileAttributesExW(wide, GetFileExInfoStandard, &old) != 0;
    if (exists && (old.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_READONLY))) {
        errno = old.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? EISDIR : EACCES;
        return cannot_open(path);
    }
    if (is_device(wide))
        return open_as_it_is(r, wide);
    if (stream && (!exists || (old.nFileSizeLow == 0 && old.nFileSizeHigh == 0)))
        return open_as_it_is(r, wide);
    remove_leftovers(path);
    return open_beside(r);
}

int mxl_replace_begin(mxl_replace *r, const char *path)
{
    return begin(r, path, false);
}

int mxl_replace_begin_stream(mxl_replace *r, const char *path)
{
    return begin(r, path, true);
}

static int move_over(const mxl_replace *r)
{
    wchar_t from[MXL_WIDE_ROOM], to[MXL_WIDE_ROOM];

    if (!mxl_utf16(from, r->temporary) || !mxl_utf16(to, r->path))
        return -1;
    if (MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0)
        return 0;
    mxl_wide_errno();
    if (errno == EACCES && GetFileAttributesW(to) != INVALID_FILE_ATTRIBUTES &&
        (GetFileAttributesW(to) & FILE_ATTRIBUTE_DIRECTORY) != 0)
        errno = EISDIR;
    return -1;
}

int mxl_replace_end(mxl_replace *r, bool whole)
{
    int status = whole ? 0 : -1;

    if (status == 0 && (fflush(r->file) != 0 || (r->lock >= 0 && _commit(_fileno(r->file)) != 0)))
        status = mxl_replace_failed(r->path, "writing failed");
    if (fclose(r->file) != 0 && status == 0)
        status = mxl_replace_failed(r->path, "writing failed");
    if (r->lock < 0)
        return status;
    if (status == 0 && move_over(r) != 0)
        status = mxl_replace_failed(r->path, "cannot be replaced");
    if (status != 0)
        discard(r);
    return status;
}
#endif
