/* The allocation walk over files of records. */
#include "walk_kit.h"

#include <stdio.h>

#define FILE_NAME "build/test_walk_records.rec"

static bool writes(stage *s)
{
    RecordIOHandle writer = NULL;
    bool ok = failing(MXRecordIOWriterCreate(FILE_NAME, &writer) == 0) &&
              failing(MXRecordIOWriterWriteRecord(writer, "abcd", 4) == 0);

    (void)s;
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    (void)remove(FILE_NAME);
    return ok;
}

static void make_file(void)
{
    RecordIOHandle writer = NULL;
    char *zeros = calloc(200000, 1);

    CHECK_INT(MXRecordIOWriterCreate(FILE_NAME, &writer), 0);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, "abcd", 4), 0);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, zeros, 200000), 0);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    free(zeros);
}

static bool reads(stage *s)
{
    RecordIOHandle reader = NULL;
    const char *bytes = NULL;
    size_t size = 99;
    bool ok = failing(MXRecordIOReaderCreate(FILE_NAME, &reader) == 0) &&
              failing(MXRecordIOReaderReadRecord(reader, &bytes, &size) == 0) &&
              failing(MXRecordIOReaderReadRecord(reader, &bytes, &size) == 0);

    (void)s;
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    if (ok)
        CHECK_INT(size, 200000);
    return ok;
}

/* A record that found no memory is read by the next call. */
TEST(no_record_is_lost)
{
    RecordIOHandle reader = NULL;
    const char *bytes = NULL;
    size_t size = 99;

    make_file();
    CHECK_INT(MXRecordIOReaderCreate(FILE_NAME, &reader), 0);
    CHECK_INT(MXRecordIOReaderReadRecord(reader, &bytes, &size), 0);
    until_failure = 0;
    CHECK_INT(MXRecordIOReaderReadRecord(reader, &bytes, &size), -1);
    CHECK_HAS(MXGetLastError(), "out of memory");
    until_failure = -1;
    CHECK_INT(MXRecordIOReaderReadRecord(reader, &bytes, &size), 0);
    CHECK_INT(size, 200000);
    CHECK_INT(MXRecordIOReaderFree(reader), 0);
    CHECK_INT(remove(FILE_NAME), 0);
}

WALK(writing, writes, true)

TEST(reading)
{
    make_file();
    walk(reads, true, true);
    CHECK_INT(remove(FILE_NAME), 0);
}

WALK_MAIN(ENTRY(writing), ENTRY(reading), ENTRY(no_record_is_lost))
