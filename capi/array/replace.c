/* Writing a file beside another. The temporary file is locked, so that leftovers of killed
 * processes differ from files being written. */
#define _GNU_SOURCE 1 /* fdopen, O_NOFOLLOW, openat */
#include "array/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { TEMPORARY_ROOM = 40, MOST_LINKS = 40 };

static int cannot_open(void)
{
    return mxl_error("cannot be opened for writing: %s", strerror(errno));
}

static int too_long(size_t length)
{
    return mxl_error("the name has %zu characters; %d are possible", length,
                     MXL_PATH_ROOM - TEMPORARY_ROOM);
}

/* ---- paths ---- */

/* Follows the links of a path, whether or not the last target exists. */
static int follow_links(char *to, const char *path)
{
    char link[MXL_PATH_ROOM];

    if (strlen(path) >= MXL_PATH_ROOM - TEMPORARY_ROOM)
        return too_long(strlen(path));
    strcpy(to, path);
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t length = readlink(to, link, sizeof(link));
        const char *slash = strrchr(to, '/');
        size_t kept;

        if (length < 0)
            return 0;
        kept = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash - to) + 1;
        if (kept + (size_t)length >= MXL_PATH_ROOM - TEMPORARY_ROOM)
            return too_long(kept + (size_t)length);
        memcpy(to + kept, link, (size_t)length);
        to[kept + (size_t)length] = '\0';
    }
    errno = ELOOP;
    return cannot_open();
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

static const char *skip_digits(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length == 0 ? NULL : text + length;
}

/* True when `name` is one of open_beside's names of temporary files for `base`. */
static bool is_temporary(const char *name, const char *base)
{
    size_t length = strlen(base);

    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return false;
    name = skip_digits(name + length + 1);
    if (name == NULL || *name != '-')
        return false;
    name = skip_digits(name + 1);
    return name != NULL && strcmp(name, ".tmp") == 0;
}

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
        if (is_temporary(entry->d_name, base))
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

        (void)snprintf(r->temporary, sizeof(r->temporary), "%.*s.%ld-%u.tmp",
                       MXL_PATH_ROOM - TEMPORARY_ROOM, r->path, (long)getpid(), number);
        fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return mxl_error("no file can be made beside it: %s", strerror(errno));
        if (fd >= 0 && lock_new(fd))
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    return mxl_error("no file can be made beside it: 100 names are taken");
}

/* Gives the new file the owner, group and permissions of the old one as far as the process may.
 * Without the owner it gets no set-id bits; without the group, no permissions of the group. */
static int keep_access(int fd, const struct stat *old)
{
    bool owner = fchown(fd, old->st_uid, old->st_gid) == 0;
    bool group = owner || fchown(fd, (uid_t)-1, old->st_gid) == 0;
    mode_t mode = old->st_mode & (owner ? 07777 : group ? 0777 : 0707);

    if (fchmod(fd, mode) != 0)
        return mxl_error("cannot be given its permissions: %s", strerror(errno));
    return 0;
}

/* ---- opening and closing ---- */

static int open_as_it_is(mxl_replace *r, const char *path, bool regular)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | (regular ? O_TRUNC : 0));

    r->lock = -1;
    r->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (r->file != NULL)
        return 0;
    (void)cannot_open();
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* The lock belongs to the descriptor. The stream gets a duplicate, which is closed before the
 * rename. */
static int open_stream(mxl_replace *r, const struct stat *old)
{
    int fd;

    if (old != NULL && keep_access(r->lock, old) != 0)
        return -1;
    fd = fcntl(r->lock, F_DUPFD_CLOEXEC, 0);
    r->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (r->file != NULL)
        return 0;
    (void)cannot_open();
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

int mxl_replace_begin(mxl_replace *r, const char *path)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;

    if (!exists && errno != ENOENT)
        return cannot_open();
    if (exists && (!S_ISREG(old.st_mode) || old.st_nlink == 0))
        return open_as_it_is(r, path, S_ISREG(old.st_mode));
    if (exists && access(path, W_OK) != 0)
        return cannot_open();
    if (follow_links(r->path, path) != 0)
        return -1;
    remove_leftovers(r->path);
    r->lock = open_beside(r, exists ? 0600 : 0666);
    if (r->lock < 0)
        return -1;
    if (open_stream(r, exists ? &old : NULL) == 0)
        return 0;
    (void)unlink(r->temporary);
    (void)close(r->lock);
    return -1;
}

int mxl_replace_end(mxl_replace *r, bool whole)
{
    int status = whole ? 0 : -1;

    if (status == 0 && (fflush(r->file) != 0 || (r->lock >= 0 && fsync(r->lock) != 0)))
        status = mxl_error("writing failed: %s", strerror(errno));
    if (fclose(r->file) != 0 && status == 0)
        status = mxl_error("writing failed: %s", strerror(errno));
    if (r->lock < 0)
        return status;
    if (status == 0 && rename(r->temporary, r->path) != 0)
        status = mxl_error("cannot be replaced: %s", strerror(errno));
    if (status == 0)
        sync_folder(r->path);
    else
        (void)unlink(r->temporary);
    (void)close(r->lock);
    return status;
}
