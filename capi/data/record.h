/* Files of records, which are read or written one after another, in the format of MXNet's. A record
 * is one or more parts: a magic number, a word with the length (29 bits) and the kind of part (3
 * bits: whole, first, middle, last), the bytes, zeros up to a multiple of 4. Where a record has the
 * magic number at a multiple of 4 it is split, and the magic number left out. Called by
 * api/data/records.c and images.c. */
#ifndef MXL_DATA_RECORD_H
#define MXL_DATA_RECORD_H

#include <stdbool.h>
#include <stdio.h>

#include "base/system/replace.h"
#include "base/ref.h"
#include "base/system/threads.h"

/* A record is shorter than this. */
#define MXL_RECORD_LIMIT ((size_t)1 << 29)

/* A file that is open for reading or writing. Any thread may use it; calls wait for each other. */
typedef struct mxl_record_file {
    mxl_ref ref; /* closes the file when it is released */
    bool writing;
    bool broken; /* the last record could not be written */
    mxl_mutex lock;
    FILE *file;           /* NULL: closed */
    mxl_replace *replace; /* of a writer */
    size_t at;            /* position in the file */
    /* Of a reader, which does not read through the stream: forked processes share its position. */
    char *buffer; /* the last record */
    size_t room;
    char *ahead;     /* bytes of the file ... */
    size_t ahead_at; /* ... from here on */
    size_t ahead_size;
    bool pipe;    /* the file has no positions */
    bool no_room; /* the record that is being read found no memory */
} mxl_record_file;

/* Opens a local file, "path" or "file://path", to be read or written. A file with content that is
 * written is replaced when the writer is closed; until then it stays as it is. Any other appears at
 * once. New; NULL with the error set. */
mxl_record_file *mxl_record_open(const char *uri, bool writing);

/* Appends a record; it is in the file when this returns. After a failure, -1 with the error set,
 * the file is as it was, if it can be made shorter. */
int mxl_record_write(mxl_record_file *writer, const char *bytes, size_t size);

/* Closes a writer; later writes fail. A file that replaces another gets its name, but not if its
 * last record could not be written. -1 with the error set: the file that was there stays. */
int mxl_record_close(mxl_record_file *writer);

/* The next record, lent until the reader's next call; *bytes is NULL at the end of the file. -1
 * with the error set: for a file that is damaged or ends within a record, and reading goes on where
 * that was noticed; for memory, and the next call reads the record. */
int mxl_record_read(mxl_record_file *reader, const char **bytes, size_t *size);

/* Moves behind the next record without reading it; *any is false at the end. A part that the file
 * ends within counts. -1 with the error set. */
int mxl_record_skip(mxl_record_file *reader, bool *any);

/* Where the next call reads or writes. */
size_t mxl_record_tell(mxl_record_file *file);

/* Continues reading at a position, which may be after the end. -1 with the error set. */
int mxl_record_seek(mxl_record_file *reader, size_t position);

#endif
