/* Calls of files of records and of data iterators for test_api_bad.c, as in bad_calls.h, which
 * includes what this file needs. */
#ifndef BAD_RECORDS_H
#define BAD_RECORDS_H

#define RECORD_FILE "build/test_api_bad.rec"
#define CSV_FILE    "build/test_api_bad.csv"

static RecordIOHandle good_writer, good_reader;
static const char *lent_bytes;
static size_t lent_size;
static DataIterHandle good_iterator; /* before its first batch */
static DataIterCreator csv_maker;
static const char *csv_keys[] = {"data_csv", "data_shape", "batch_size"};
static const char *csv_values[] = {CSV_FILE, "(1,)", "1"};
static const char *csv_null[] = {NULL, NULL, NULL};
static uint64_t *lent_index, index_count;

static void set_up_iterators(void)
{
    FILE *file = fopen(CSV_FILE, "w");
    DataIterCreator *list;

    REQUIRE(file != NULL);
    fputs("1\n", file);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(MXListDataIters(&u32, &list), 0);
    csv_maker = list[0];
    CHECK_INT(MXDataIterCreateIter(csv_maker, 3, csv_keys, csv_values, &good_iterator), 0);
}

static void set_up_records(void)
{
    CHECK_INT(MXRecordIOWriterCreate(RECORD_FILE, &good_writer), 0);
    CHECK_INT(MXRecordIOReaderCreate(RECORD_FILE, &good_reader), 0);
    set_up_iterators();
}

static void tear_down_records(void)
{
    CHECK_INT(MXRecordIOWriterFree(good_writer), 0);
    CHECK_INT(MXRecordIOReaderFree(good_reader), 0);
    CHECK_INT(remove(RECORD_FILE), 0);
    CHECK_INT(MXDataIterFree(good_iterator), 0);
    CHECK_INT(remove(CSV_FILE), 0);
}

#define RECORD_PLACES(X)                                                                           \
    X(MXDataIterFree, ITERATOR, true, MXDataIterFree(h))                                           \
    X(MXDataIterNext, ITERATOR, false, MXDataIterNext(h, &int_a))                                  \
    X(MXDataIterBeforeFirst, ITERATOR, false, MXDataIterBeforeFirst(h))                            \
    X(MXDataIterGetData, ITERATOR, false, MXDataIterGetData(h, &out))                              \
    X(MXDataIterGetLabel, ITERATOR, false, MXDataIterGetLabel(h, &out))                            \
    X(MXDataIterGetIndex, ITERATOR, false, MXDataIterGetIndex(h, &lent_index, &index_count))       \
    X(MXDataIterGetPadNum, ITERATOR, false, MXDataIterGetPadNum(h, &int_a))                        \
    X(MXRecordIOWriterFree, RECORD, true, MXRecordIOWriterFree(h))                                 \
    X(MXRecordIOWriterWriteRecord, RECORD, false, MXRecordIOWriterWriteRecord(h, "abc", 3))        \
    X(MXRecordIOWriterTell, RECORD, false, MXRecordIOWriterTell(h, &lent_size))                    \
    X(MXRecordIOReaderFree, RECORD, true, MXRecordIOReaderFree(h))                                 \
    X(MXRecordIOReaderReadRecord, RECORD, false,                                                   \
      MXRecordIOReaderReadRecord(h, &lent_bytes, &lent_size))                                      \
    X(MXRecordIOReaderSeek, RECORD, false, MXRecordIOReaderSeek(h, 0))                             \
    X(MXRecordIOReaderTell, RECORD, false, MXRecordIOReaderTell(h, &lent_size))

static MXLReplacement ended = {-1, 0, {0}};

#define RECORD_ARGUMENTS(X)                                                                        \
    X(MXLReplaceBegin, MXLReplaceBegin(NULL, 0, &ended))                                           \
    X(MXLReplaceBegin, MXLReplaceBegin(RECORD_FILE, 0, NULL))                                      \
    X(MXLReplaceBegin, MXLReplaceBegin("no/such/folder/a", 1, &ended))                             \
    X(MXLReplaceEnd, MXLReplaceEnd(NULL, 1))                                                       \
    X(MXLReplaceEnd, MXLReplaceEnd(&ended, 1))                                                     \
    X(MXDataIterCreateIter, MXDataIterCreateIter(csv_maker, 3, csv_keys, csv_values, NULL))        \
    X(MXDataIterCreateIter, MXDataIterCreateIter(csv_maker, 3, NULL, csv_values, &out))            \
    X(MXDataIterCreateIter, MXDataIterCreateIter(csv_maker, 3, csv_keys, NULL, &out))              \
    X(MXDataIterCreateIter, MXDataIterCreateIter(csv_maker, 3, csv_null, csv_values, &out))        \
    X(MXDataIterCreateIter, MXDataIterCreateIter(csv_maker, 3, csv_keys, csv_null, &out))          \
    X(MXDataIterCreateIter,                                                                        \
      MXDataIterCreateIter(csv_maker, UINT32_MAX, csv_keys, csv_values, &out))                     \
    X(MXDataIterCreateIter, MXDataIterCreateIter(csv_maker, 0, NULL, NULL, &out))                  \
    X(MXDataIterCreateIter, MXDataIterCreateIter(good_iterator, 3, csv_keys, csv_values, &out))    \
    X(MXDataIterFree, MXDataIterFree(csv_maker))                                                   \
    X(MXDataIterNext, MXDataIterNext(good_iterator, NULL))                                         \
    X(MXDataIterNext, MXDataIterNext(csv_maker, &int_a))                                           \
    X(MXDataIterGetData, MXDataIterGetData(good_iterator, NULL))                                   \
    X(MXDataIterGetData, MXDataIterGetData(good_iterator, &out))                                   \
    X(MXDataIterGetLabel, MXDataIterGetLabel(good_iterator, NULL))                                 \
    X(MXDataIterGetLabel, MXDataIterGetLabel(good_iterator, &out))                                 \
    X(MXDataIterGetIndex, MXDataIterGetIndex(good_iterator, NULL, &index_count))                   \
    X(MXDataIterGetIndex, MXDataIterGetIndex(good_iterator, &lent_index, NULL))                    \
    X(MXDataIterGetIndex, MXDataIterGetIndex(good_iterator, &lent_index, &index_count))            \
    X(MXDataIterGetPadNum, MXDataIterGetPadNum(good_iterator, NULL))                               \
    X(MXDataIterGetPadNum, MXDataIterGetPadNum(good_iterator, &int_a))                             \
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
