/* Effects of saving on files: on the old file, on links and permissions, after a failure or a kill;
 * and files that cannot be loaded. */
#define _GNU_SOURCE 1 /* mkdtemp, symlink, setrlimit, memfd_create */
#include "io_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static const char *in_folder(char *room, const char *name)
{
    (void)snprintf(room, 160, "%s/%s", folder, name);
    return room;
}

static void make_file(const char *name, mode_t mode)
{
    char room[160];
    int fd = open(in_folder(room, name), O_WRONLY | O_CREAT, 0600);

    CHECK(fd >= 0);
    CHECK_INT(fchmod(fd, mode), 0);
    CHECK_INT(close(fd), 0);
}

static bool exists(const char *name)
{
    char room[160];
    struct stat info;

    return lstat(in_folder(room, name), &info) == 0;
}

/* Saves an array that begins with `first` as `name`; the status. */
static int save(const char *name, float first)
{
    NDArrayHandle a = floats(3, first);
    char room[160];
    int status = MXNDArraySave(name[0] == '/' ? name : in_folder(room, name), 1, &a, NULL);

    CHECK_INT(MXNDArrayFree(a), 0);
    return status;
}

/* What `path` holds now. */
static float first_in_path(void)
{
    float first = -1;

    CHECK_INT(load_first(&first), 1);
    return first;
}

TEST(a_link_and_permissions_stay)
{
    NDArrayHandle a = floats(3, 1), b = floats(3, 2);
    char link[160];
    struct stat info;
    float first = 0;

    make_folder();
    (void)snprintf(link, sizeof(link), "%s/link", folder);
    CHECK_INT(MXNDArraySave(path, 1, &a, NULL), 0);
    CHECK_INT(chmod(path, 0640), 0);
    CHECK_INT(symlink(path, link), 0);
    CHECK_INT(MXNDArraySave(link, 1, &b, NULL), 0);
    CHECK_INT(lstat(link, &info), 0);
    CHECK(S_ISLNK(info.st_mode));
    CHECK_INT(stat(path, &info), 0);
    CHECK_INT(info.st_mode & 07777, 0640);
    CHECK_INT(load_first(&first), 1);
    CHECK(first == 2);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(MXNDArrayFree(b), 0);
    CHECK_INT(remove_folder(), 2);
}

/* As on a full disk: writing fails in the middle. The old file is whole, and nothing else stays. */
TEST(a_failed_save_leaves_the_old_file)
{
    NDArrayHandle a = floats(3, 1), big = NULL;
    const uint32_t many = 1 << 16;
    struct rlimit before, small;
    float first = 0;

    make_folder();
    CHECK_INT(MXNDArrayCreate(&many, 1, 1, 0, 0, &big), 0);
    CHECK_INT(MXNDArraySave(path, 1, &a, NULL), 0);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK_INT(MXNDArraySave(path, 1, &big, NULL), -1);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_HAS(MXGetLastError(), "writing failed");
    CHECK_INT(load_first(&first), 1);
    CHECK(first == 1);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(MXNDArrayFree(big), 0);
    CHECK_INT(remove_folder(), 1);
}

/* ---- links ---- */

TEST(links_lead_to_where_it_is_saved)
{
    static const char *const links[][2] = {
        {"to-name", "a.params"}, {"to-link", "to-name"}, {"up", "sub/../a.params"}};
    char link[160], whole[160];

    make_folder();
    CHECK_INT(mkdir(in_folder(link, "sub"), 0755), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(symlink(links[i][1], in_folder(link, links[i][0])), 0);
    CHECK_INT(symlink("../a.params", in_folder(link, "sub/relative")), 0);
    CHECK_INT(symlink(path, in_folder(link, "whole")), 0);
    CHECK_INT(symlink("sub", in_folder(link, "folder")), 0);
    for (int there = 0; there < 2; there++) { /* nothing at the end, then a file */
        static const char *const names[] = {"to-name",      "to-link",         "up",
                                            "sub/relative", "folder/relative", "whole"};

        for (int i = 0; i < 6; i++) {
            struct stat info;

            if (there == 0 && i > 0)
                CHECK_INT(unlink(path), 0);
            CHECK_INT(save(names[i], (float)i), 0);
            CHECK(first_in_path() == (float)i);
            CHECK_INT(lstat(in_folder(whole, names[i]), &info), 0);
            CHECK(S_ISLNK(info.st_mode));
        }
    }
    CHECK_INT(symlink("round", in_folder(link, "round")), 0);
    CHECK_INT(save("round", 1), -1);
    CHECK_HAS(MXGetLastError(), strerror(ELOOP));
    CHECK_INT(symlink("nosuch/a", in_folder(link, "lost")), 0);
    CHECK_INT(save("lost", 1), -1);
    CHECK_HAS(MXGetLastError(), strerror(ENOENT));
    CHECK_INT(unlink(in_folder(link, "sub/relative")), 0);
    CHECK_INT(rmdir(in_folder(link, "sub")), 0);
    CHECK_INT(remove_folder(), 8);
}

/* A file without a name, and one of memory alone, are written where they are. */
TEST(files_without_a_name)
{
    char name[64];
    struct stat info;
    int fds[2];

    make_folder();
    fds[0] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
#if defined(__linux__)
    fds[1] = memfd_create("arrays", MFD_CLOEXEC);
#else
    fds[1] = dup(fds[0]);
#endif
    CHECK_INT(unlink(path), 0);
    for (int i = 0; i < 2; i++) {
        REQUIRE(fds[i] >= 0);
        CHECK_INT(write(fds[i], folder, sizeof(folder)), sizeof(folder));
        CHECK_INT(ftruncate(fds[i], 4096), 0);
        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[i]);
        CHECK_INT(save(name, 7), 0);
        CHECK_INT(fstat(fds[i], &info), 0);
        CHECK(info.st_size > 0 && info.st_size < 100);
        CHECK_INT(close(fds[i]), 0);
    }
    CHECK_INT(save("/dev/null", 1), 0);
    CHECK_INT(save(folder, 1), -1);
    CHECK_HAS(MXGetLastError(), strerror(EISDIR));
    CHECK_INT(remove_folder(), 0);
}

/* ---- killed in the middle ---- */

/* Saves more than this process may write to a file, and dies of it. */
static void die_saving(void)
{
    const uint32_t many = 1 << 20;
    const struct rlimit small = {1 << 16, 1 << 16}, none = {0, 0};
    NDArrayHandle big = NULL;

    if (setrlimit(RLIMIT_CORE, &none) == 0 && setrlimit(RLIMIT_FSIZE, &small) == 0 &&
        signal(SIGXFSZ, SIG_DFL) != SIG_ERR && MXNDArrayCreate(&many, 1, 1, 0, 0, &big) == 0)
        (void)MXNDArraySave(path, 1, &big, NULL);
    _exit(1);
}

static void kill_a_save(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        die_saving();
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
}

static int count_entries(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    if (dir != NULL)
        closedir(dir);
    return count;
}

TEST(a_killed_save_is_cleaned_up)
{
    static const char *const others[] = {"a.params.tmp",      "a.params.7.tmp", "a.params.-1.tmp",
                                         "a.params.7-.tmp",   "a.params.7-1",   "b.params.7-1.tmp",
                                         "a.params.7-1.tmp2", "a.params7-1.tmp"};
    enum { OTHERS = sizeof(others) / sizeof(*others) };

    make_folder();
    CHECK_INT(save("a.params", 1), 0);
    for (int i = 0; i < OTHERS; i++)
        make_file(others[i], 0600);
    kill_a_save();
    CHECK_INT(count_entries(), 1 + OTHERS + 1);
    kill_a_save(); /* it had removed what the first one left */
    make_file("a.params.7-1.tmp", 0600);
    CHECK_INT(count_entries(), 1 + OTHERS + 2);
    CHECK(first_in_path() == 1);
    CHECK_INT(save("other", 2), 0); /* what another file's saves leave is none of its business */
    CHECK_INT(count_entries(), 2 + OTHERS + 2);
    CHECK_INT(save("a.params", 2), 0);
    CHECK_INT(count_entries(), 2 + OTHERS);
    CHECK(first_in_path() == 2);
    for (int i = 0; i < OTHERS; i++)
        CHECK(exists(others[i]));
    CHECK_INT(remove_folder(), 2 + OTHERS);
}

/* What another process writes at this moment stays. */
TEST(a_file_that_is_being_written_stays)
{
    char name[160];
    int fd;

    make_folder();
    make_file("a.params.7-1.tmp", 0600);
    CHECK_INT(mkdir(in_folder(name, "a.params.7-2.tmp"), 0755), 0);
    CHECK_INT(symlink("a.params", in_folder(name, "a.params.7-3.tmp")), 0);
    fd = open(in_folder(name, "a.params.7-1.tmp"), O_WRONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    CHECK_INT(flock(fd, LOCK_EX), 0);
    CHECK_INT(save("a.params", 1), 0);
    CHECK(exists("a.params.7-1.tmp"));
    CHECK_INT(close(fd), 0);
    CHECK_INT(save("a.params", 2), 0);
    CHECK(!exists("a.params.7-1.tmp"));
    CHECK(exists("a.params.7-2.tmp") && exists("a.params.7-3.tmp"));
    CHECK_INT(rmdir(in_folder(name, "a.params.7-2.tmp")), 0);
    CHECK_INT(remove_folder(), 2);
}

/* ---- whose it is ---- */

/* Runs `what` in a process of another user and group; whether all its checks held. */
static void as_nobody(void (*what)(void))
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        what();
        _exit(3);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

static void save_as_nobody(void)
{
    struct stat info;
    bool fine = save("a.params", 2) == 0 && first_in_path() == 2 && stat(path, &info) == 0 &&
                info.st_uid == 65534 && info.st_gid == 65534 && (info.st_mode & 07777) == 0606;

    _exit(fine ? 0 : 1);
}

static void refused_as_nobody(void)
{
    bool fine = save("a.params", 2) == -1 &&
                strstr(MXGetLastError(), "no file can be made beside it: Permission") != NULL &&
                first_in_path() == 1;

    _exit(fine ? 0 : 1);
}

static void kept_from_nobody(void)
{
    bool fine = save("a.params", 2) == -1 &&
                strstr(MXGetLastError(), "cannot be opened for writing: Permission") != NULL;

    _exit(fine ? 0 : 1);
}

/* Owner and group stay where the process may say so; where it may not, the new file is the
 * process's, and permits no more than the old one. */
TEST(owner_and_group)
{
    bool root = geteuid() == 0;
    struct stat info;

    make_folder();
    CHECK_INT(save("a.params", 1), 0);
    CHECK_INT(chmod(path, 04666), 0);
    if (root) {
        CHECK_INT(chown(path, 12345, 54321), 0);
        CHECK_INT(chmod(path, 04666), 0);
    }
    CHECK_INT(save("a.params", 1), 0);
    CHECK_INT(stat(path, &info), 0);
    CHECK_INT(info.st_uid, root ? 12345 : geteuid());
    CHECK_INT(info.st_gid, root ? 54321 : getegid());
    CHECK_INT(info.st_mode & 07777, 04666);
    if (root) { /* only it can become somebody else */
        CHECK_INT(chmod(folder, 0755), 0);
        as_nobody(refused_as_nobody);
        CHECK_INT(chmod(folder, 0777), 0);
        as_nobody(save_as_nobody);
        CHECK_INT(chown(path, 0, 0), 0);
        CHECK_INT(chmod(path, 0644), 0);
        as_nobody(kept_from_nobody);
    }
    CHECK_INT(remove_folder(), 1);
}

/* ---- loading what is no file ---- */

static void check_not_loaded(const char *name, const char *text)
{
    uint32_t count = 0, named = 0;
    NDArrayHandle *handles = NULL;
    const char **names = NULL;

    CHECK_INT(MXNDArrayLoad(name, &count, &handles, &named, &names), -1);
    CHECK_HAS(MXGetLastError(), name);
    CHECK_HAS(MXGetLastError(), text);
}

TEST(only_regular_files_are_loaded)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    char name[160];

    make_folder();
    CHECK_INT(alarm(60), 0); /* one that waits for a writer ends the program */
    CHECK_INT(mkfifo(in_folder(name, "fifo"), 0600), 0);
    check_not_loaded(name, "is not a regular file");
    CHECK_INT(symlink("fifo", in_folder(name, "link")), 0);
    check_not_loaded(name, "is not a regular file");
    check_not_loaded(folder, "is not a regular file");
    check_not_loaded("/dev/null", "is not a regular file");
    check_not_loaded("/dev/zero", "is not a regular file");
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
    CHECK_INT(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    check_not_loaded(address.sun_path, "cannot be opened");
    CHECK_INT(close(fd), 0);
    (void)alarm(0);
    CHECK_INT(remove_folder(), 3);
}

HARNESS_MAIN(ENTRY(a_link_and_permissions_stay), ENTRY(a_failed_save_leaves_the_old_file),
             ENTRY(links_lead_to_where_it_is_saved), ENTRY(files_without_a_name),
             ENTRY(a_killed_save_is_cleaned_up), ENTRY(a_file_that_is_being_written_stays),
             ENTRY(owner_and_group), ENTRY(only_regular_files_are_loaded))
