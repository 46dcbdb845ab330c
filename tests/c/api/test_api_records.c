/* Files of records (MXRecordIO*): what is written is read, by the bytes that MXNet 1.9.1 writes;
 * positions; damaged files. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "io_kit.h"

#include <pthread.h>
#include <string.h>

/* The magic number, and the head of a part of a kind and a length. */
#define MAGIC "\x0a\x23\xd7\xce"

static const char *rec(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static RecordIOHandle writer_of(const char *file)
{
    RecordIOHandle writer = NULL;

    CHECK_INT(MXRecordIOWriterCreate(file, &writer), 0);
    return writer;
}

static RecordIOHandle reader_of(const char *file)
{
    RecordIOHandle reader = NULL;

    CHECK_INT(MXRecordIOReaderCreate(file, &reader), 0);
    return reader;
}

static void put(RecordIOHandle writer, const char *bytes, size_t size)
{
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, bytes, size), 0);
}

/* The next record is these bytes. */
static void expect(RecordIOHandle reader, const char *bytes, size_t size)
{
    const char *got = NULL;
    size_t got_size = 99;

    CHECK_INT(MXRecordIOReaderReadRecord(reader, &got, &got_size), 0);
    CHECK_INT(got_size, size);
    if (CHECK(got != NULL) && got_size == size)
        CHECK(memcmp(got, bytes, size) == 0);
}

static void expect_end(RecordIOHandle reader)
{
    const char *got = "";
    size_t size = 99;

    CHECK_INT(MXRecordIOReaderReadRecord(reader, &got, &size), 0);
    CHECK(got == NULL && size == 0);
}

static size_t reader_at(RecordIOHandle reader)
{
    size_t at = 99;

    CHECK_INT(MXRecordIOReaderTell(reader, &at), 0);
    return at;
}

static size_t writer_at(RecordIOHandle writer)
{
    size_t at = 99;

    CHECK_INT(MXRecordIOWriterTell(writer, &at), 0);
    return at;
}

static size_t content(const char *file, char *bytes, size_t room)
{
    FILE *f = fopen(file, "rb");
    size_t size = f != NULL ? fread(bytes, 1, room, f) : 0;

    if (CHECK(f != NULL))
        fclose(f);
    return size;
}

static void fill(const char *file, const char *bytes, size_t size)
{
    FILE *f = fopen(file, "wb");

    if (CHECK(f != NULL)) {
        CHECK_INT(fwrite(bytes, 1, size, f), size);
        CHECK_INT(fclose(f), 0);
    }
}

/* As written by 1.9.1: whole records are padded, others are split at each magic number whose place
 * is a multiple of 4. */
TEST(the_bytes_of_a_file)
{
    static const char expected[] =
        MAGIC "\x05\0\0\0hello\0\0\0" MAGIC "\0\0\0\0" MAGIC "\0\0\0\x20" MAGIC "\0\0\0\x60" MAGIC
              "\0\0\0\x20" MAGIC "\0\0\0\x40" MAGIC "\0\0\0\x60" MAGIC "\x04\0\0\x20"
              "abcd" MAGIC "\x01\0\0\x60x\0\0\0" MAGIC "\x06\0\0\0ab" MAGIC "\0\0";
    static const size_t places[] = {16, 24, 40, 64, 88, 104};
    static const struct {
        const char *bytes;
        size_t size;
    } records[] = {{"hello", 5},          {"", 0},        {MAGIC, 4}, {MAGIC MAGIC, 8},
                   {"abcd" MAGIC "x", 9}, {"ab" MAGIC, 6}};
    char bytes[256];
    RecordIOHandle writer, reader;

    make_folder();
    writer = writer_of(rec("a.rec"));
    for (int i = 0; i < 6; i++) {
        put(writer, records[i].bytes, records[i].size);
        CHECK_INT(writer_at(writer), places[i]);
        CHECK_INT(content(path, bytes, sizeof(bytes)), places[i]); /* at once */
    }
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK_INT(content(path, bytes, sizeof(bytes)), sizeof(expected) - 1);
    CHECK(memcmp(bytes, expected, sizeof(expected) - 1) == 0);
    reader = reader_of(path);
    for (int i = 0; i < 6; i++) {
        expect(reader, records[i].bytes, records[i].size);
        CHECK_INT(reader_at(reader), places[i]);
    }
    expect_end(reader);
    expect_end(reader);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    CHECK_INT(remove_folder(), 1);
}

TEST(positions)
{
    RecordIOHandle writer, reader;

    make_folder();
    writer = writer_of(rec("a.rec"));
    put(writer, "first", 5);
    put(writer, NULL, 0);
    put(writer, "third", 5);
    reader = reader_of(path);
    CHECK_INT(MXRecordIOReaderSeek(reader, 24), 0);
    CHECK_INT(reader_at(reader), 24);
    expect(reader, "third", 5);
    expect_end(reader);
    CHECK_INT(MXRecordIOReaderSeek(reader, 0), 0);
    expect(reader, "first", 5);
    expect(reader, "", 0);
    CHECK_INT(MXRecordIOReaderSeek(reader, 1000), 0); /* as in 1.9.1 */
    CHECK_INT(reader_at(reader), 1000);
    expect_end(reader);
    CHECK_INT(MXRecordIOReaderSeek(reader, 40), 0);
    put(writer, "more", 4);
    expect(reader, "more", 4);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK_INT(remove_folder(), 1);
}

TEST(long_records)
{
    enum { LONG = 300001 };
    char *bytes = malloc(LONG);
    RecordIOHandle writer, reader;
    char uri[160];

    REQUIRE(bytes != NULL);
    make_folder();
    for (int i = 0; i < LONG; i++)
        bytes[i] = (char)(i * 7);
    for (int i = 0; i + 4 < LONG; i += 40000)
        memcpy(bytes + i, MAGIC, 4);
    (void)snprintf(uri, sizeof(uri), "file://%s", rec("a.rec"));
    writer = writer_of(uri);
    put(writer, bytes, LONG);
    put(writer, "end", 3);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    reader = reader_of(uri);
    expect(reader, bytes, LONG);
    expect(reader, "end", 3);
    expect_end(reader);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    free(bytes);
    CHECK_INT(remove_folder(), 1);
}

/* ---- damage ---- */

typedef struct damage {
    const char *bytes;
    size_t size;
    const char *says;
} damage;

#define DAMAGE(bytes, says) {bytes, sizeof(bytes) - 1, says}

static const damage damages[] = {
    DAMAGE("\x0a\x23", "the file ends at byte 2, within the head of a record"),
    DAMAGE(MAGIC "\x05\0", "the file ends at byte 6, within the head of a record"),
    DAMAGE(MAGIC "\x05\0\0\0hel", "the file ends at byte 11, within a record of 5 bytes"),
    DAMAGE(MAGIC "\x05\0\0\0hello\0", "the file ends at byte 14, within a record of 5 bytes"),
    DAMAGE("no record",
           "no record begins at byte 0: what is there begins with the text \"no recor\""),
    DAMAGE(MAGIC "\xff\xff\xff\x1fhello", "the file ends at byte 13, within a record of 536870911"),
    DAMAGE(MAGIC "\x04\0\0\x20"
                 "abcd",
           "the file ends at byte 12, before the last part of a record"),
    DAMAGE(MAGIC "\x04\0\0\x20"
                 "abcd"
                 "nothing.",
           "no record begins at byte 12"),
    DAMAGE(MAGIC "\x04\0\0\x20"
                 "abcd" MAGIC "\xff\xff\xff\x7f",
           "a record of 2^29 bytes or more, before byte 20"),
};

/* Damage is an error, in little memory; reading goes on where it was noticed. */
TEST(damaged_files)
{
    make_folder();
    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        const char *bytes = NULL;
        int64_t before, after;
        RecordIOHandle reader;
        size_t size = 99;

        fill(rec("a.rec"), damages[i].bytes, damages[i].size);
        CHECK_INT(MXLGetLiveBytes(&before), 0);
        reader = reader_of(path);
        CHECK_INT(MXRecordIOReaderReadRecord(reader, &bytes, &size), -1);
        CHECK_HAS(MXGetLastError(), "MXRecordIOReaderReadRecord: ");
        CHECK_HAS(MXGetLastError(), damages[i].says);
        CHECK(bytes == NULL && size == 99);
        CHECK_INT(MXLGetLiveBytes(&after), 0);
        CHECK(after - before < 100000);
        CHECK_INT(MXRecordIOReaderFree(reader), 0);
    }
    CHECK_INT(remove_folder(), 1);
}

/* A record may begin with a part that says it is in the middle, and end with a whole one: as in
 * 1.9.1, only where a record ends counts. */
TEST(strange_kinds)
{
    static const char bytes[] = MAGIC "\x04\0\0\x40"
                                      "abcd" MAGIC "\x01\0\0\0x\0\0\0" MAGIC "\x01\0\0\x60y\0\0\0";
    RecordIOHandle reader;

    make_folder();
    fill(rec("a.rec"), bytes, sizeof(bytes) - 1);
    reader = reader_of(path);
    expect(reader, "abcd" MAGIC "x", 9);
    expect(reader, "y", 1);
    expect_end(reader);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    CHECK_INT(remove_folder(), 1);
}

TEST(files_that_cannot_be_opened)
{
    RecordIOHandle handle = NULL;

    CHECK_INT(MXRecordIOReaderCreate("no such file", &handle), -1);
    CHECK_HAS(MXGetLastError(), "MXRecordIOReaderCreate: cannot open \"no such file\": No such");
    CHECK_INT(MXRecordIOReaderCreate("tests", &handle), -1);
    CHECK_HAS(MXGetLastError(), "cannot open \"tests\": it is a folder");
    CHECK_INT(MXRecordIOWriterCreate("hdfs://a/b", &handle), -1);
    CHECK_HAS(MXGetLastError(), "MXRecordIOWriterCreate: 'hdfs://a/b': only local files");
    CHECK(handle == NULL);
}

TEST(readers_are_not_writers)
{
    RecordIOHandle writer, reader;
    size_t at = 99;

    make_folder();
    writer = writer_of(rec("a.rec"));
    reader = reader_of(path);
    CHECK_INT(MXRecordIOReaderTell(writer, &at), -1);
    CHECK_STR(MXGetLastError(),
              "MXRecordIOReaderTell: a reader was expected, the handle is of a writer");
    CHECK_INT(MXRecordIOWriterFree(reader), -1);
    CHECK_STR(MXGetLastError(),
              "MXRecordIOWriterFree: a writer was expected, the handle is of a reader");
    CHECK_INT(at, 99);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    CHECK_INT(MXRecordIOReaderFree(reader), -1);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    CHECK_INT(MXRecordIOWriterFree(NULL), 0);
    CHECK_INT(remove_folder(), 1);
}

/* /dev/full takes nothing; a write that failed leaves no bytes for the next one. */
TEST(a_full_disk)
{
    RecordIOHandle writer = NULL;

    if (access("/dev/full", W_OK) != 0)
        return;
    writer = writer_of("/dev/full");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXRecordIOWriterWriteRecord(writer, "abc", 3), -1);
        CHECK_STR(MXGetLastError(), "MXRecordIOWriterWriteRecord: /dev/full: writing a record of "
                                    "3 bytes failed: No space left on device");
        CHECK_INT(writer_at(writer), 0);
    }
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
}

/* ---- threads ---- */

static void *write_many(void *writer)
{
    for (int i = 0; i < 500; i++)
        put(writer, "a record", 8);
    return NULL;
}

TEST(threads_wait_for_each_other)
{
    pthread_t threads[4];
    RecordIOHandle writer, reader;

    make_folder();
    writer = writer_of(rec("a.rec"));
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, write_many, writer) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    reader = reader_of(path);
    for (int i = 0; i < 2000; i++)
        expect(reader, "a record", 8);
    expect_end(reader);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    CHECK_INT(remove_folder(), 1);
}

HARNESS_MAIN(ENTRY(the_bytes_of_a_file), ENTRY(positions), ENTRY(long_records),
             ENTRY(damaged_files), ENTRY(strange_kinds), ENTRY(files_that_cannot_be_opened),
             ENTRY(readers_are_not_writers), NOT_WASM(a_full_disk),
             NOT_WASM(threads_wait_for_each_other))
