/* Calls of files of records for test_api_bad.c, as in bad_calls.h, which includes what this file
 * needs. */
#ifndef BAD_RECORDS_H
#define BAD_RECORDS_H

#define RECORD_FILE "build/test_api_bad.rec"

static RecordIOHandle good_writer, good_reader;
static const char *lent_bytes;
static size_t lent_size;

static void set_up_records(void)
{
    CHECK_INT(MXRecordIOWriterCreate(RECORD_FILE, &good_writer), 0);
    CHECK_INT(MXRecordIOReaderCreate(RECORD_FILE, &good_reader), 0);
}

static void tear_down_records(void)
{
    CHECK_INT(MXRecordIOWriterFree(good_writer), 0);
    CHECK_INT(MXRecordIOReaderFree(good_reader), 0);
    CHECK_INT(remove(RECORD_FILE), 0);
}

#define RECORD_PLACES(X)                                                                           \
    X(MXRecordIOWriterFree, RECORD, true, MXRecordIOWriterFree(h))                                 \
    X(MXRecordIOWriterWriteRecord, RECORD, false, MXRecordIOWriterWriteRecord(h, "abc", 3))        \
    X(MXRecordIOWriterTell, RECORD, false, MXRecordIOWriterTell(h, &lent_size))                    \
    X(MXRecordIOReaderFree, RECORD, true, MXRecordIOReaderFree(h))                                 \
    X(MXRecordIOReaderReadRecord, RECORD, false,                                                   \
      MXRecordIOReaderReadRecord(h, &lent_bytes, &lent_size))                                      \
    X(MXRecordIOReaderSeek, RECORD, false, MXRecordIOReaderSeek(h, 0))                             \
    X(MXRecordIOReaderTell, RECORD, false, MXRecordIOReaderTell(h, &lent_size))

#define RECORD_ARGUMENTS(X)                                                                        \
    X(MXRecordIOWriterCreate, MXRecordIOWriterCreate(NULL, &out))                                  \
    X(MXRecordIOWriterCreate, MXRecordIOWriterCreate(RECORD_FILE, NULL))                           \
    X(MXRecordIOWriterCreate, MXRecordIOWriterCreate("no/such/folder/a.rec", &out))                \
    X(MXRecordIOWriterCreate, MXRecordIOWriterCreate("s3://bucket/a.rec", &out))                   \
    X(MXRecordIOWriterFree, MXRecordIOWriterFree(good_reader))                                     \
    X(MXRecordIOWriterWriteRecord, MXRecordIOWriterWriteRecord(good_writer, NULL, 3))              \
    X(MXRecordIOWriterWriteRecord,                                                                 \
      MXRecordIOWriterWriteRecord(good_writer, "abc", (size_t)1 << 29))                            \
    X(MXRecordIOWriterWriteRecord, MXRecordIOWriterWriteRecord(good_reader, "abc", 3))             \
    X(MXRecordIOWriterTell, MXRecordIOWriterTell(good_writer, NULL))                               \
    X(MXRecordIOWriterTell, MXRecordIOWriterTell(good_reader, &lent_size))                         \
    X(MXRecordIOReaderCreate, MXRecordIOReaderCreate(NULL, &out))                                  \
    X(MXRecordIOReaderCreate, MXRecordIOReaderCreate(RECORD_FILE, NULL))                           \
    X(MXRecordIOReaderCreate, MXRecordIOReaderCreate("no such file", &out))                        \
    X(MXRecordIOReaderCreate, MXRecordIOReaderCreate("tests", &out))                               \
    X(MXRecordIOReaderFree, MXRecordIOReaderFree(good_writer))                                     \
    X(MXRecordIOReaderReadRecord, MXRecordIOReaderReadRecord(good_reader, NULL, &lent_size))       \
    X(MXRecordIOReaderReadRecord, MXRecordIOReaderReadRecord(good_reader, &lent_bytes, NULL))      \
    X(MXRecordIOReaderReadRecord,                                                                  \
      MXRecordIOReaderReadRecord(good_writer, &lent_bytes, &lent_size))                            \
    X(MXRecordIOReaderSeek, MXRecordIOReaderSeek(good_writer, 0))                                  \
    X(MXRecordIOReaderSeek, MXRecordIOReaderSeek(good_reader, SIZE_MAX))                           \
    X(MXRecordIOReaderTell, MXRecordIOReaderTell(good_reader, NULL))                               \
    X(MXRecordIOReaderTell, MXRecordIOReaderTell(good_writer, &lent_size))

#endif
