/* Writing that fails keeps the old file: each writer of the C API, and MXLReplaceBegin and
 * MXLReplaceEnd, through which other languages write. */
#define _GNU_SOURCE 1 /* mkdtemp, setrlimit */
#include "io_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#define OLD "the old file"

#ifdef _WIN32 /* which cannot limit files, and has no fork */
#include <direct.h>
#define make_subfolder(path) _mkdir(path)
#else
#include <sys/resource.h>
#include <sys/wait.h>
#define make_subfolder(path) mkdir(path, 0700)

static struct rlimit before;

/* As on a full disk: no file of this process may become larger than `bytes`. */
static void limit_files(rlim_t bytes)
{
    struct rlimit small;

    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = bytes;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static void unlimit_files(void)
{
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
}
#endif

static void write_old(void)
{
    FILE *file = fopen(path, "wb");

    REQUIRE(file != NULL);
    CHECK(fputs(OLD, file) >= 0);
    CHECK_INT(fclose(file), 0);
}

/* The text of the file; lent until the next call. */
static const char *content(void)
{
    static char text[64];
    FILE *file = fopen(path, "rb");

    memset(text, 0, sizeof(text));
    if (file != NULL) {
        (void)fread(text, 1, sizeof(text) - 1, file);
        (void)fclose(file);
    }
    return text;
}

/* ---- every writer ---- */

#ifndef _WIN32
static int save_arrays(void)
{
    const uint32_t many = 1 << 16;
    NDArrayHandle big = NULL;
    int status;

    CHECK_INT(MXNDArrayCreate(&many, 1, 1, 0, 0, &big), 0);
    status = MXNDArraySave(path, 1, &big, NULL);
    CHECK_INT(MXNDArrayFree(big), 0);
    return status;
}

static int save_symbol(void)
{
    static char name[20001];
    SymbolHandle symbol = NULL;
    int status;

    memset(name, 'a', sizeof(name) - 1);
    CHECK_INT(MXSymbolCreateVariable(name, &symbol), 0);
    status = MXSymbolSaveToFile(symbol, path);
    CHECK_INT(MXSymbolFree(symbol), 0);
    return status;
}

static int dump_profile(void)
{
    const char *keys[] = {"filename", "profile_all"}, *values[] = {path, "1"};
    int status;

    CHECK_INT(MXSetProfilerConfig(2, keys, values), 0);
    CHECK_INT(MXSetProfilerState(1), 0);
    for (int i = 0; i < 200; i++)
        CHECK_INT(MXNDArrayFree(floats(3, 1)), 0);
    status = save_arrays() == -1 ? 0 : 1;
    CHECK_INT(MXSetProfilerState(0), 0);
    return status == 0 ? MXDumpProfile(1) : 0;
}

static int write_records(void)
{
    static char bytes[1000];
    RecordIOHandle writer = NULL;
    int written = 0, status = 0;

    CHECK_INT(MXRecordIOWriterCreate(path, &writer), 0);
    while (status == 0 && written++ < 100)
        status = MXRecordIOWriterWriteRecord(writer, bytes, sizeof(bytes));
    CHECK_HAS(MXGetLastError(), path);
    CHECK_HAS(MXGetLastError(), strerror(EFBIG));
    CHECK_STR(content(), OLD);
    CHECK_INT(MXRecordIOWriterFree(writer), -1);
    CHECK_HAS(MXGetLastError(), "the file stays as it was");
    return status;
}

TEST(a_failed_write_keeps_the_old_file)
{
    static int (*const writers[])(void) = {save_arrays, save_symbol, write_records};

    make_folder();
    write_old();
    limit_files(4096);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(writers[i](), -1);
        CHECK_HAS(MXGetLastError(), path);
        CHECK_STR(content(), OLD);
    }
    unlimit_files();
    CHECK_INT(remove_folder(), 1);
}

TEST(a_failed_dump_keeps_the_old_file)
{
    make_folder();
    write_old();
    limit_files(16);
    CHECK_INT(dump_profile(), -1);
    unlimit_files();
    CHECK_HAS(MXGetLastError(), path);
    CHECK_HAS(MXGetLastError(), strerror(EFBIG));
    CHECK_STR(content(), OLD);
    CHECK_INT(remove_folder(), 1);
}

#endif

/* ---- records ---- */

static RecordIOHandle writer_with(const char *bytes)
{
    RecordIOHandle writer = NULL;

    CHECK_INT(MXRecordIOWriterCreate(path, &writer), 0);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, bytes, strlen(bytes)), 0);
    return writer;
}

/* A file with content stays until the writer is closed; one that is new has each record at once. */
TEST(records_replace_a_file_at_the_end)
{
    RecordIOHandle writer;

    make_folder();
    write_old();
    writer = writer_with("first");
    CHECK_STR(content(), OLD);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK(memcmp(content() + 8, "first", 5) == 0);
    CHECK_INT(unlink(path), 0);
    writer = writer_with("second");
    CHECK(memcmp(content() + 8, "second", 6) == 0);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK_INT(remove_folder(), 1);
}

#ifdef _WIN32
#define POSIX_ONLY
#else
#define POSIX_ONLY                                                                                 \
    ENTRY(a_failed_write_keeps_the_old_file), ENTRY(a_failed_dump_keeps_the_old_file),             \
        ENTRY(a_writer_may_go_on), ENTRY(a_child_replaces_nothing),

/* A record that fits after one that did not makes the file whole again. */
TEST(a_writer_may_go_on)
{
    static char bytes[5000];
    RecordIOHandle writer;

    make_folder();
    write_old();
    writer = writer_with("first");
    limit_files(4096);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, bytes, sizeof(bytes)), -1);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, "next", 4), 0);
    unlimit_files();
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK(memcmp(content() + 8, "first", 5) == 0 && memcmp(content() + 24, "next", 4) == 0);
    CHECK_INT(remove_folder(), 1);
}

/* A writer that a forked child closes is still the parent's. */
TEST(a_child_replaces_nothing)
{
    RecordIOHandle writer;
    int status = -1;
    pid_t child;

    make_folder();
    write_old();
    writer = writer_with("first");
    child = fork();
    if (child == 0)
        _exit(MXRecordIOWriterFree(writer) == 0 ? 0 : 1);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_STR(content(), OLD);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, "next", 4), 0);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK(memcmp(content() + 24, "next", 4) == 0);
    CHECK_INT(remove_folder(), 1);
}

#endif

/* ---- MXLReplaceBegin, MXLReplaceEnd ---- */

static MXLReplacement begun(int stream)
{
    MXLReplacement made;

    CHECK_INT(MXLReplaceBegin(path, stream, &made), 0);
    CHECK_INT(write(made.descriptor, "new", 3), 3);
    return made;
}

TEST(other_languages_replace_files)
{
    MXLReplacement made;

    make_folder();
    write_old();
    for (int stream = 0; stream < 2; stream++) {
        made = begun(stream);
        CHECK_STR(content(), OLD);
        CHECK_INT(MXLReplaceEnd(&made, 0), 0);
        CHECK_INT(made.descriptor, -1);
        CHECK_STR(content(), OLD);
        CHECK_INT(MXLReplaceEnd(&made, 1), -1);
        CHECK_HAS(MXGetLastError(), "MXLReplaceEnd: the replacement has not begun, or has ended");
    }
    made = begun(0);
    CHECK_INT(MXLReplaceEnd(&made, 1), 0);
    CHECK_STR(content(), "new");
    CHECK_INT(unlink(path), 0);
    made = begun(1);
    CHECK_STR(content(), "new");
    CHECK_INT(MXLReplaceEnd(&made, 0), 0);
    CHECK_STR(content(), "new");
    CHECK_INT(remove_folder(), 1);
}

TEST(a_failure_has_its_number)
{
    MXLReplacement made = {0};

    make_folder();
    CHECK_INT(MXLReplaceBegin(folder, 0, &made), -1);
    CHECK_INT(made.error_number, EISDIR);
    CHECK_INT(made.descriptor, -1);
    CHECK_INT(MXLReplaceBegin("/no/such/folder/a", 0, &made), -1);
    CHECK_INT(made.error_number, ENOENT);
    CHECK_HAS(MXGetLastError(), "/no/such/folder/a: ");
    made = begun(0);
    CHECK_INT(make_subfolder(path), 0); /* what cannot be replaced */
    CHECK_INT(MXLReplaceEnd(&made, 1), -1);
    CHECK_INT(made.error_number, EISDIR);
    CHECK_HAS(MXGetLastError(), strerror(EISDIR));
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(remove_folder(), 0);
}

HARNESS_MAIN(POSIX_ONLY ENTRY(records_replace_a_file_at_the_end),
             ENTRY(other_languages_replace_files), ENTRY(a_failure_has_its_number))
