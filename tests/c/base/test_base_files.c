/* Paths and bytes of files: names beyond ASCII, paths of more than 260 characters, and bytes that a
 * text file would change on some systems. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "io_kit.h"

#include <errno.h>
#include <string.h>

#include "base/system/dynamic.h"
#include "base/system/file_io.h"
#include "base/system/process.h"
#include "base/system/replace.h"
#include "base/system/utf16.h"

static void save_and_load(const char *name)
{
    NDArrayHandle a = floats(3, 13);
    float first = 0;
    int n = snprintf(path, sizeof(path), "%s/%s", folder, name);

    REQUIRE(n > 0 && (size_t)n < sizeof(path));
    CHECK_INT(MXNDArraySave(path, 1, &a, NULL), 0);
    CHECK(mxl_file_exists(path));
    CHECK_INT(load_first(&first), 1);
    CHECK(first == 13);
    CHECK_INT(MXNDArraySave(path, 1, &a, NULL), 0); /* over the old file */
    CHECK_INT(MXNDArrayFree(a), 0);
}

/* Writes a file anew by the library, reads it by the library, and checks both. */
static void check_bytes(const char *name, const char *bytes, size_t size)
{
    char got[64] = {0};
    mxl_replace r;
    mxl_file_kind kind;
    FILE *file;
    size_t length = 0;

    REQUIRE(size <= sizeof(got) && mxl_replace_begin(&r, name) == 0);
    CHECK(fwrite(bytes, 1, size, r.file) == size);
    CHECK_INT(mxl_replace_end(&r, true), 0);
    file = mxl_file_open(name, false, &kind, &length);
    REQUIRE(file != NULL);
    CHECK_INT(kind, MXL_FILE_REGULAR);
    CHECK_INT(length, size);
    CHECK(!mxl_file_is_pipe(file));
    CHECK_INT(mxl_file_read_at(file, false, got, sizeof(got), 0), size);
    CHECK(memcmp(got, bytes, size) == 0);
    CHECK_INT(mxl_file_read_at(file, false, got, sizeof(got), size), 0);
    (void)fclose(file);
}

/* A line's end of Windows, its end of a file, a NUL: all are bytes as others. */
TEST(bytes_stay_as_they_are)
{
    static const char bytes[] = "a\r\nb\nc\x1a\0d\r";

    make_folder();
    check_bytes(path, bytes, sizeof(bytes));
    check_bytes(path, bytes, 0);
    CHECK_INT(remove_folder(), 1);
}

/* A process of that number cannot be. What this process writes is not left over; elsewhere a lock
 * says so. */
TEST(leftovers_are_removed)
{
    char dead[160], own[160];
    FILE *file;

    make_folder();
    (void)snprintf(dead, sizeof(dead), "%s.2147483647-0.tmp", path);
    (void)snprintf(own, sizeof(own), "%s.%ld-4000000000.tmp", path, mxl_process_id());
    file = fopen(dead, "wb");
    REQUIRE(file != NULL);
    (void)fclose(file);
    file = fopen(own, "wb");
    REQUIRE(file != NULL);
    (void)fclose(file);
    check_bytes(path, "new", 3);
    CHECK(!mxl_file_exists(dead));
#ifdef _WIN32
    CHECK(mxl_file_exists(own));
    CHECK_INT(unlink(own), 0);
#endif
    CHECK_INT(remove_folder(), 1);
}

/* Removes a file, whose name this system's `unlink` may not take. */
static void remove_file(const char *name)
{
#ifdef _WIN32
    wchar_t wide[MXL_WIDE_ROOM];

    CHECK(mxl_utf16(wide, name));
    CHECK_INT(_wunlink(wide), 0);
#else
    CHECK_INT(unlink(name), 0);
#endif
}

TEST(names_beyond_ascii)
{
    mxl_replace r;

    make_folder();
    save_and_load("\xc3\xa4\xe6\x97\xa5 \xf0\x9f\x98\x80.params");
    CHECK_INT(mxl_replace_begin(&r, path), 0);
    CHECK_INT(mxl_replace_end(&r, false), -1); /* the old one stays */
    CHECK(mxl_file_exists(path));
    remove_file(path);
    CHECK(!mxl_file_exists(path));
    CHECK_INT(remove_folder(), 0);
}

TEST(a_long_path)
{
    char name[300];
    int n;

    make_folder();
    n = snprintf(name, sizeof(name), "%s/", folder);
    memset(name + n, 'n', 240);
    name[n + 240] = '\0';
    check_bytes(name, "long", 4);
    CHECK(mxl_file_exists(name));
    remove_file(name);
    CHECK_INT(remove_folder(), 0);
}

/* 4090 fit with nothing before them. */
TEST(a_path_that_is_too_long)
{
    static const int lengths[] = {4090, 4096, 6000};

    for (int i = 0; i < 3; i++) {
        static char name[6001];
        static mxl_replace r;
        const char *why;

        memset(name, 'n', sizeof(name));
        name[lengths[i]] = '\0';
        errno = 0;
        CHECK(mxl_file_open(name, false, NULL, NULL) == NULL);
        CHECK_INT(errno, ENAMETOOLONG);
        CHECK(!mxl_file_exists(name));
        CHECK_INT(mxl_replace_begin(&r, name), -1);
        CHECK_INT(errno, ENAMETOOLONG);
        CHECK(mxl_library_open(name, &why) == NULL && why != NULL);
    }
}

TEST(folders_are_no_files)
{
    mxl_file_kind kind = MXL_FILE_REGULAR;
    FILE *file;

    make_folder();
    file = mxl_file_open(folder, false, &kind, NULL);
    CHECK(file != NULL);
    CHECK_INT(kind, MXL_FILE_FOLDER);
    if (file != NULL)
        (void)fclose(file);
    CHECK_INT(remove_folder(), 0);
}

HARNESS_MAIN(ENTRY(bytes_stay_as_they_are), NOT_WASM(leftovers_are_removed),
             ENTRY(names_beyond_ascii), ENTRY(a_long_path), NOT_WASM(a_path_that_is_too_long),
             ENTRY(folders_are_no_files))
