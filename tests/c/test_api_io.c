/* Arrays in files and bytes: round trips, what saving leaves behind when it fails, and 2,000
 * damaged files: an error or an array, never more memory than the file's size times a small factor.
 */
#define _GNU_SOURCE 1 /* mkdtemp, symlink, setrlimit */
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mxlite/mxlite.h"

static char folder[64], path[128];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/mxlite-io-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/a.params", folder);
}

/* Removes the folder; the number of files that were in it. */
static int remove_folder(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char name[512];
    int count = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
        CHECK_INT(unlink(name), 0);
        count++;
    }
    if (dir != NULL)
        closedir(dir);
    CHECK_INT(rmdir(folder), 0);
    return count;
}

static NDArrayHandle floats(uint32_t n, float first)
{
    float values[64];
    NDArrayHandle h = NULL;

    for (uint32_t i = 0; i < n; i++)
        values[i] = first + (float)i;
    CHECK_INT(MXNDArrayCreate(&n, 1, 1, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, n), 0);
    return h;
}

/* What is in `path`: how many arrays, and the first element of the first. Frees them. */
static int load_first(float *first)
{
    uint32_t count = 0, named = 0;
    NDArrayHandle *handles = NULL;
    const char **names = NULL;
    float values[64];
    int n = -1;

    if (MXNDArrayLoad(path, &count, &handles, &named, &names) != 0)
        return -1;
    n = (int)count;
    for (uint32_t i = 0; i < count; i++) {
        NDArrayHandle h = handles[i];

        if (i == 0) {
            CHECK_INT(MXNDArraySyncCopyToCPU(h, values, 3), 0);
            *first = values[0];
        }
        CHECK_INT(MXNDArrayFree(h), 0);
    }
    return n;
}

TEST(list_with_names)
{
    NDArrayHandle arrays[2] = {floats(3, 5), floats(4, 9)}, *handles = NULL, loaded[2];
    const char *keys[2] = {"arg:a", ""}, **names = NULL;
    uint32_t count = 0, named = 0;
    float values[4] = {0};

    make_folder();
    REQUIRE(MXNDArraySave(path, 2, arrays, keys) == 0);
    REQUIRE(MXNDArrayLoad(path, &count, &handles, &named, &names) == 0);
    CHECK_INT(count, 2);
    CHECK_INT(named, 2);
    CHECK_STR(names[0], "arg:a");
    CHECK_STR(names[1], "");
    for (int i = 0; i < 2; i++)
        loaded[i] = handles[i];
    CHECK_INT(MXNDArraySyncCopyToCPU(loaded[1], values, 4), 0);
    CHECK(values[0] == 9 && values[3] == 12);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXNDArrayFree(loaded[i]), 0);
        CHECK_INT(MXNDArrayFree(arrays[i]), 0);
    }
    CHECK_INT(remove_folder(), 1);
}

TEST(views_are_saved_as_they_look)
{
    NDArrayHandle whole = floats(8, 0), part = NULL;
    float first = 0;

    make_folder();
    CHECK_INT(MXNDArraySlice(whole, 3, 6, &part), 0);
    CHECK_INT(MXNDArraySave(path, 1, &part, NULL), 0);
    CHECK_INT(load_first(&first), 1);
    CHECK(first == 3);
    CHECK_INT(MXNDArrayFree(part), 0);
    CHECK_INT(MXNDArrayFree(whole), 0);
    CHECK_INT(remove_folder(), 1);
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

TEST(what_cannot_be_saved)
{
    NDArrayHandle arrays[2] = {floats(3, 1), NULL}, scalar = NULL;
    const int64_t none[1] = {0};
    int prev;

    make_folder();
    CHECK_INT(MXNDArrayCreateNone(&arrays[1]), 0);
    CHECK_INT(MXNDArraySave(path, 2, arrays, NULL), -1);
    CHECK_HAS(MXGetLastError(), "array 1: the array has no shape yet");
    CHECK_INT(MXSetIsNumpyShape(1, &prev), 0);
    CHECK_INT(MXNDArrayCreateEx64(none, 0, 1, 0, 0, 0, &scalar), 0);
    CHECK_INT(MXNDArraySave(path, 1, &scalar, NULL), 0);
    CHECK_INT(MXSetIsNumpyShape(0, &prev), 0);
    CHECK_INT(MXNDArraySave(path, 1, &scalar, NULL), -1);
    CHECK_HAS(MXGetLastError(), "numpy-shape mode");
    CHECK_INT(MXNDArrayFree(scalar), 0);
    CHECK_INT(MXNDArrayFree(arrays[0]), 0);
    CHECK_INT(MXNDArrayFree(arrays[1]), 0);
    CHECK_INT(remove_folder(), 1);
}

/* ---- damaged files ---- */

enum { MUTATIONS = 2000, MOST = 8192, FACTOR = 32 };

static _Atomic int64_t held, peak;

static void *counting_alloc(void *payload, size_t bytes, size_t align)
{
    int64_t now = atomic_fetch_add(&held, (int64_t)bytes) + (int64_t)bytes;

    (void)payload;
    if (now > atomic_load(&peak))
        atomic_store(&peak, now);
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void counting_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)atomic_fetch_sub(&held, (int64_t)bytes);
    free(block);
}

static size_t read_file(const char *name, unsigned char *to)
{
    FILE *file = fopen(name, "rb");
    size_t size = file == NULL ? 0 : fread(to, 1, MOST, file);

    if (file != NULL)
        fclose(file);
    return size;
}

/* Shorter, a bit flipped, or a number that lies. */
static size_t damage(uint64_t *seed, unsigned char *bytes, size_t size)
{
    static const uint64_t lies[] = {0,          1,          UINT64_MAX, INT64_MAX,
                                    1u << 31,   UINT32_MAX, 0xF993FAC8, UINT64_C(1) << 32,
                                    0xF993FAC9, 0xF993FACA, 33,         UINT64_C(1) << 61,
                                    7,          255};
    uint64_t lie = lies[harness_random(seed) % (sizeof(lies) / sizeof(*lies))];
    size_t at = (size_t)(harness_random(seed) % size), width = harness_random(seed) % 2 ? 4 : 8;

    switch (harness_random(seed) % 3) {
    case 0:
        return at;
    case 1:
        bytes[at] ^= (unsigned char)(1u << harness_random(seed) % 8);
        return size;
    default:
        at -= at % 4;
        memcpy(bytes + at, &lie, width < size - at ? width : size - at);
        return size;
    }
}

/* Loads the bytes as a file's content; whether that worked. The values are read too. */
static bool try_bytes(const unsigned char *bytes, size_t size)
{
    uint32_t count = 0, named = 0;
    NDArrayHandle *handles = NULL;
    const char **names = NULL;
    int64_t before = atomic_load(&held);
    int status;

    atomic_store(&peak, before);
    status = MXNDArrayLoadFromBuffer(bytes, size, &count, &handles, &named, &names);
    CHECK(atomic_load(&peak) - before <= (int64_t)(FACTOR * size + 4096));
    CHECK((status == 0) == (handles != NULL));
    for (uint32_t i = 0; i < count; i++) {
        NDArrayHandle h = handles[i];
        void *data = NULL;

        CHECK_INT(MXNDArrayGetData(h, &data),
                  data == NULL && MXLNDArrayGetInfo(h, 0, NULL, NULL) < 0 ? -1 : 0);
        CHECK_INT(MXNDArrayFree(h), 0);
    }
    return status == 0;
}

TEST(damaged_files)
{
    DIR *dir = opendir("tests/reference/files");
    struct dirent *entry;
    uint64_t seed = 7;
    int files = 0, fine = 0, errors = 0, prev;

    REQUIRE(dir != NULL);
    REQUIRE(MXLSetAllocator(counting_alloc, counting_free, NULL, 0) == 0);
    while ((entry = readdir(dir)) != NULL) {
        unsigned char bytes[MOST + 8], copy[MOST + 8];
        char name[512];
        size_t size;

        if (strstr(entry->d_name, ".params") == NULL)
            continue;
        (void)snprintf(name, sizeof(name), "tests/reference/files/%s", entry->d_name);
        size = read_file(name, bytes);
        REQUIRE(size > 0 && size < MOST);
        files++;
        for (int i = 0; i < MUTATIONS / 10; i++) {
            size_t left;

            memcpy(copy, bytes, size);
            left = damage(&seed, copy, size);
            CHECK_INT(MXSetIsNumpyShape(i % 2, &prev), 0);
            if (try_bytes(copy, left))
                fine++;
            else
                errors++;
        }
    }
    closedir(dir);
    CHECK_INT(MXSetIsNumpyShape(0, &prev), 0);
    CHECK_INT(MXLSetAllocator(NULL, NULL, NULL, 1), 0);
    CHECK(files >= 10);
    CHECK(fine + errors >= MUTATIONS);
    CHECK(fine > 100 && errors > 1000);
}

/* Every length short of the whole is an error; and with a byte more it is what it was. */
TEST(every_shorter_file)
{
    unsigned char bytes[MOST];
    size_t size = read_file("tests/reference/files/names.params", bytes);

    REQUIRE(size > 0);
    for (size_t n = 0; n < size; n++)
        CHECK(!try_bytes(bytes, n));
    CHECK(try_bytes(bytes, size));
    CHECK(try_bytes(bytes, size + 1));
}

HARNESS_MAIN(ENTRY(list_with_names), ENTRY(views_are_saved_as_they_look),
             ENTRY(a_link_and_permissions_stay), ENTRY(a_failed_save_leaves_the_old_file),
             ENTRY(what_cannot_be_saved), ENTRY(damaged_files), ENTRY(every_shorter_file))
