/* Writing a file beside another. The temporary file is locked, so that leftovers of killed
 * processes differ from files being written. */
#define _GNU_SOURCE 1 /* fdopen, O_NOFOLLOW, openat */
#include "base/system/replace.h"

#include "base/system/system.h"

#if defined(MXL_POSIX) && !defined(MXL_NO_FILES)
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <stdio_ext.h>
#endif

#include "base/error.h"

enum { MOST_LINKS = 40 };

static int cannot_open(const char *path)
{
    return mxl_replace_failed(path, "cannot be opened for writing");
}

static int too_long(size_t length)
{
    mxl_error_set("the name of a file has %zu characters; %d are possible", length,
                  MXL_REPLACE_ROOM);
    errno = ENAMETOOLONG;
    return -1;
}

/* ---- paths ---- */

/* Follows the links of a path, whether or not the last target exists. */
static int follow_links(char *to, const char *path)
{
    char link[MXL_PATH_ROOM];

    if (strlen(path) >= MXL_REPLACE_ROOM)
        return too_long(strlen(path));
    strcpy(to, path);
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t length = readlink(to, link, sizeof(link));
        const char *slash = strrchr(to, '/');
        size_t kept;

        if (length < 0)
            return 0;
        kept = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash - to) + 1;
        if (kept + (size_t)length >= MXL_REPLACE_ROOM)
            return too_long(kept + (size_t)length);
        memcpy(to + kept, link, (size_t)length);
        to[kept + (size_t)length] = '\0';
    }
    errno = ELOOP;
    return cannot_open(path);
}

/* Splits a path into folder and file name. */
static const char *split_path(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL || slash == path ? 1 : (size_t)(slash - path);

    memcpy(folder, slash == NULL ? "." : path, length);
    folder[length] = '\0';
    return slash == NULL ? path : slash + 1;
}

/* Makes a rename durable. A failure is ignored: the file exists all the same. */
static void sync_folder(const char *path)
{
    char folder[MXL_PATH_ROOM];
    int fd;

    (void)split_path(path, folder);
    fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

/* ---- temporary files ---- */

/* Removes a temporary file that no process writes. The name is checked again under the lock: the
 * file may have been renamed meanwhile. */
static void remove_unlocked(int folder, const char *name)
{
    struct stat held, there;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    if (fstat(fd, &held) == 0 && S_ISREG(held.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == there.st_ino &&
        held.st_dev == there.st_dev)
        (void)unlinkat(folder, name, 0);
    (void)close(fd);
}

static void remove_leftovers(const char *path)
{
    char folder[MXL_PATH_ROOM];
    const char *base = split_path(path, folder);
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        if (mxl_replace_is_temporary(entry->d_name, base))
            remove_unlocked(dirfd(dir), entry->d_name);
    }
    (void)closedir(dir);
}

/* Locks a new temporary file; false if another process took it for a leftover. On a file system
 * without locks no process removes files. */
static bool lock_new(int fd)
{
    struct stat info;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

/* Creates a temporary file beside r->path; -1 with the error set. */
static int open_beside(mxl_replace *r, mode_t mode)
{
    static atomic_uint counter;

    for (int tries = 0; tries < 100; tries++) {
        unsigned number = atomic_fetch_add(&counter, 1);
        int fd;

        mxl_replace_name(r, (long)getpid(), number);
        fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return mxl_replace_failed(r->path, "no file can be made beside it");
        if (fd >= 0 && lock_new(fd))
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    errno = EEXIST;
    return mxl_replace_failed(r->path, "no file can be made beside it, 100 names are taken");
}

/* Gives the new file the owner, group and permissions of the old one as far as the process may.
 * Without the owner it gets no set-id bits; without the group, no permissions of the group. */
static int keep_access(const mxl_replace *r, const struct stat *old)
{
    bool owner = fchown(r->lock, old->st_uid, old->st_gid) == 0;
    bool group = owner || fchown(r->lock, (uid_t)-1, old->st_gid) == 0;
    mode_t mode = old->st_mode & (owner ? 07777 : group ? 0777 : 0707);

    return fchmod(r->lock, mode) == 0
               ? 0
               : mxl_replace_failed(r->path, "cannot be given its permissions");
}

/* ---- opening and closing ---- */

/* Forgets what is in a stream's buffer. */
static void purge(FILE *file)
{
#if defined(__linux__)
    __fpurge(file);
#else
    (void)fpurge(file);
#endif
}

/* Closes descriptors, whose errors tell nothing new; errno stays. */
static void shut(int fd)
{
    int why = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = why;
}

static void discard(const mxl_replace *r)
{
    int why = errno;

    (void)unlink(r->temporary);
    errno = why;
}

/* Makes the stream of a descriptor, which is closed on failure. */
static int open_stream(mxl_replace *r, int fd)
{
    r->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (r->file != NULL)
        return 0;
    (void)cannot_open(r->path);
    shut(fd);
    return -1;
}

static int open_as_it_is(mxl_replace *r, int flags)
{
    r->lock = -1;
    return open_stream(r, open(r->path, O_WRONLY | O_CLOEXEC | flags, 0666));
}

/* The lock belongs to the descriptor. The stream gets a duplicate, which is closed before the
 * rename. */
static int open_replacement(mxl_replace *r, const struct stat *old)
{
    r->lock = open_beside(r, old != NULL ? 0600 : 0666);
    if (r->lock < 0)
        return -1;
    if ((old == NULL || keep_access(r, old) == 0) &&
        open_stream(r, fcntl(r->lock, F_DUPFD_CLOEXEC, 0)) == 0)
        return 0;
    discard(r);
    shut(r->lock);
    return -1;
}

static int begin(mxl_replace *r, const char *path, bool stream)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    bool regular = exists && S_ISREG(old.st_mode);

    r->owner = (long)getpid();
    if (!exists && errno != ENOENT)
        return cannot_open(path);
    if (exists && (!regular || old.st_nlink == 0)) {
        (void)snprintf(r->path, sizeof(r->path), "%s", path); /* follow_links loses such a target */
        return open_as_it_is(r, regular ? O_TRUNC : 0);
    }
    if (exists && access(path, W_OK) != 0)
        return cannot_open(path);
    if (follow_links(r->path, path) != 0)
        return -1;
    if (stream && (!exists || old.st_size == 0))
        return open_as_it_is(r, O_CREAT | O_TRUNC);
    remove_leftovers(r->path);
    return open_replacement(r, exists ? &old : NULL);
}

int mxl_replace_begin(mxl_replace *r, const char *path)
{
    return begin(r, path, false);
}

int mxl_replace_begin_stream(mxl_replace *r, const char *path)
{
    return begin(r, path, true);
}

int mxl_replace_end(mxl_replace *r, bool whole)
{
    bool ours = r->owner == (long)getpid();
    int status = whole ? 0 : -1;

    if (!ours)
        purge(r->file); /* the parent writes what is in the buffer */
    if (ours && status == 0 && (fflush(r->file) != 0 || (r->lock >= 0 && fsync(r->lock) != 0)))
        status = mxl_replace_failed(r->path, "writing failed");
    if (fclose(r->file) != 0 && status == 0)
        status = mxl_replace_failed(r->path, "writing failed");
    if (r->lock < 0)
        return status;
    if (ours && status == 0 && rename(r->temporary, r->path) != 0)
        status = mxl_replace_failed(r->path, "cannot be replaced");
    if (ours && status == 0)
        sync_folder(r->path);
    else if (ours)
        discard(r);
    shut(r->lock);
    return status;
}
#endif
