/* Arrays in files and bytes: round trips, and 2,000 damaged files, which must give an error or an
 * array and never use more memory than a small multiple of the file's size. (Effects of saving on
 * files: test_api_save.c.) */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "io_kit.h"

#include <stdatomic.h>

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
    return kit_alloc(bytes, align);
}

static void counting_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)atomic_fetch_sub(&held, (int64_t)bytes);
    kit_free(block);
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
        int stype = 7;

        CHECK_INT(MXNDArrayGetStorageType(h, &stype), 0);
        CHECK(stype >= -1 && stype <= 2);
        CHECK_INT(MXNDArrayGetData(h, &data), stype == 0 ? 0 : -1);
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

/* The error says in words how a file of another kind begins. */
TEST(files_of_other_kinds)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } files[] = {
        {"PK\3\4\x14\0\0\0", 8, "begins as a zip archive does"},
        {"\x89PNG\r\n\x1a\n", 8, "begins as a PNG image does"},
        {"\x80\2}q\0", 5, "begins as a pickle does"},
        {"epoch,loss\n1,2\n3,4\n", 19, "begins with the text \"epoch,loss 1,2 3\""},
        {"hi", 2, "begins with the text \"hi\""},
        {"\0\xff\1\2\3\4\5\6\7", 9, "begins with the bytes 00 ff 01 02 03 04 05 06"},
        {"\x12\1\0", 3, "it ends too early"},
    };
    const char **names;
    NDArrayHandle *arrays, array = NULL;
    uint32_t count, named;

    make_folder();
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        FILE *file = fopen(path, "wb");

        REQUIRE(file != NULL);
        CHECK_INT(fwrite(files[i].bytes, 1, files[i].size, file), files[i].size);
        CHECK_INT(fclose(file), 0);
        CHECK_INT(MXNDArrayLoad(path, &count, &arrays, &named, &names), -1);
        CHECK_HAS(MXGetLastError(), files[i].says);
    }
    CHECK_INT(MXNDArrayLoadFromRawBytes("PK\3\4", 4, &array), -1);
    CHECK_HAS(MXGetLastError(), "begins as a zip archive does");
    CHECK_INT(remove_folder(), 1);
}

HARNESS_MAIN(ENTRY(files_of_other_kinds), ENTRY(list_with_names),
             ENTRY(views_are_saved_as_they_look), ENTRY(what_cannot_be_saved), ENTRY(damaged_files),
             ENTRY(every_shorter_file))
