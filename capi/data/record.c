/* Reading and writing files of records; see data/record.h. */
#include "data/record.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/content.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/threads.h"
#include "base/system/file_io.h"

/* The kinds of parts. */
enum { WHOLE, FIRST, MIDDLE, LAST };

enum {
    LENGTH_BITS = 29,
    AHEAD = 1 << 14, /* bytes that are read at a time, or as many as a step of a record has */
    STEP = 1 << 16   /* memory for this many bytes is taken before they have been read */
};

static const uint32_t magic = 0xced7230a;

/* ---- opening and closing ---- */

static void record_free(mxl_ref *ref)
{
    mxl_record_file *file = (mxl_record_file *)ref;

    if (file->writing && file->file != NULL)
        (void)mxl_replace_end(file->replace, false);
    else if (file->file != NULL)
        (void)mxl_file_close(file->file);
    mxl_free(file->replace, sizeof(*file->replace));
    mxl_free(file->buffer, file->room);
    mxl_free(file->ahead, AHEAD);
    mxl_mutex_destroy(&file->lock);
    mxl_free(file, sizeof(*file));
}

static FILE *open_path(const char *path)
{
    mxl_file_kind kind;
    FILE *file = mxl_file_open(path, true, &kind, NULL);

    if (file == NULL)
        return mxl_error_null("cannot open \"%s\": %s", path, mxl_file_why(errno));
    if (kind == MXL_FILE_FOLDER) {
        (void)mxl_file_close(file);
        return mxl_error_null("cannot open \"%s\": it is a folder", path);
    }
    return file;
}

static FILE *open_replacement(mxl_record_file *file, const char *path)
{
    file->replace = mxl_alloc_zero(sizeof(*file->replace));
    if (file->replace == NULL || mxl_replace_begin_stream(file->replace, path) != 0)
        return NULL;
    return file->replace->file;
}

mxl_record_file *mxl_record_open(const char *uri, bool writing)
{
    const char *path = mxl_local_path(uri);
    mxl_record_file *file;

    if (path == NULL)
        return NULL;
    file = mxl_alloc_zero(sizeof(*file));
    if (file == NULL)
        return NULL;
    mxl_ref_init(&file->ref, record_free);
    mxl_mutex_init(&file->lock);
    file->writing = writing;
    file->file = writing ? open_replacement(file, path) : open_path(path);
    if (file->file == NULL) {
        mxl_ref_release(&file->ref);
        return NULL;
    }
    if (writing)
        return file;
    file->pipe = mxl_file_is_pipe(file->file);
    file->ahead = mxl_alloc(AHEAD);
    if (file->ahead == NULL) {
        mxl_ref_release(&file->ref);
        return NULL;
    }
    return file;
}

int mxl_record_close(mxl_record_file *writer)
{
    int status = 0;

    mxl_mutex_lock(&writer->lock);
    if (writer->file != NULL && writer->broken && writer->replace->lock >= 0) {
        status = mxl_error("%s: the file stays as it was: the last record could not be written",
                           writer->replace->path);
    } else if (writer->file != NULL) {
        status = mxl_replace_end(writer->replace, true);
        writer->file = NULL;
    }
    mxl_mutex_unlock(&writer->lock);
    return status;
}

/* ---- writing ---- */

static int write_part(FILE *file, uint32_t kind, const char *bytes, size_t size)
{
    static const char zeros[4];
    uint32_t head[2] = {magic, kind << LENGTH_BITS | (uint32_t)size};
    size_t padding = -size & 3;

    return mxl_file_put(file, head, sizeof(head)) == sizeof(head) &&
                   mxl_file_put(file, bytes, size) == size &&
                   mxl_file_put(file, zeros, padding) == padding
               ? 0
               : -1;
}

/* Writes all parts of a record to the stream. Counts them in *parts. */
static int write_parts(FILE *file, const char *bytes, size_t size, size_t *parts)
{
    size_t start = 0;

    *parts = 1;
    for (size_t i = 0; i + sizeof(magic) <= size; i += sizeof(magic)) {
        if (memcmp(bytes + i, &magic, sizeof(magic)) != 0)
            continue;
        if (write_part(file, start == 0 ? FIRST : MIDDLE, bytes + start, i - start) != 0)
            return -1;
        start = i + sizeof(magic);
        ++*parts;
    }
    return write_part(file, *parts == 1 ? WHOLE : LAST, size == 0 ? bytes : bytes + start,
                      size - start);
}

/* Removes what a failed write left. The stream's buffer is emptied first: it would be written by a
 * later call otherwise. */
static void write_undo(mxl_record_file *writer)
{
    (void)mxl_file_flush(writer->file);
    mxl_file_cut(writer->file, writer->at);
}

int mxl_record_write(mxl_record_file *writer, const char *bytes, size_t size)
{
    size_t parts;
    int status = 0;

    if (size >= MXL_RECORD_LIMIT)
        return mxl_error("a record must be shorter than 2^29 bytes, got %zu", size);
    mxl_mutex_lock(&writer->lock);
    if (writer->file == NULL) {
        status = mxl_error("the writer is closed");
    } else if (write_parts(writer->file, bytes, size, &parts) != 0 ||
               mxl_file_flush(writer->file) != 0) {
        status = mxl_error("%s: writing a record of %zu bytes failed: %s", writer->replace->path,
                           size, strerror(errno));
        writer->broken = true;
        write_undo(writer);
    } else {
        writer->broken = false;
        /* Each part has a head of 8 bytes, and all but the first replace a magic number of 4. */
        writer->at += 8 * parts + ((size - 4 * (parts - 1) + 3) & ~(size_t)3);
    }
    mxl_mutex_unlock(&writer->lock);
    return status;
}

/* ---- reading ---- */

/* Reads some bytes at the reader's position, without moving it, or of a pipe; 0 at the end, -1. */
static int64_t read_some(const mxl_record_file *reader, void *to, size_t wanted)
{
    return mxl_file_read_at(reader->file, reader->pipe, to, wanted, reader->at);
}

/* Some bytes at the reader's position, of what was read ahead where they are there; 0 at the end,
 * -1 if reading failed. */
static int64_t some_bytes(mxl_record_file *reader, char *to, size_t wanted)
{
    size_t offset = reader->at - reader->ahead_at, left;
    int64_t n;

    if (reader->at < reader->ahead_at || offset >= reader->ahead_size) {
        if (wanted >= AHEAD)
            return read_some(reader, to, wanted);
        n = read_some(reader, reader->ahead, AHEAD);
        if (n <= 0)
            return n;
        reader->ahead_at = reader->at;
        reader->ahead_size = (size_t)n;
        offset = 0;
    }
    left = reader->ahead_size - offset;
    if (wanted > left)
        wanted = left;
    memcpy(to, reader->ahead + offset, wanted);
    return (int64_t)wanted;
}

/* Reads as many bytes as there are, and counts them. -1 with the error set if reading failed. */
static int take(mxl_record_file *reader, void *to, size_t wanted, size_t *got)
{
    *got = 0;
    while (*got < wanted) {
        int64_t n = some_bytes(reader, (char *)to + *got, wanted - *got);

        if (n < 0)
            return mxl_error("reading failed at byte %zu: %s", reader->at, strerror(errno));
        if (n == 0)
            break;
        *got += (size_t)n;
        reader->at += (size_t)n;
    }
    return 0;
}

/* Goes to a position. -1 with the error set. */
static int move_to(mxl_record_file *reader, size_t position)
{
    if (position > PTRDIFF_MAX)
        return mxl_error("position %zu is larger than any file", position);
    if (reader->pipe)
        return mxl_error("moving to byte %zu failed: %s", position, strerror(ESPIPE));
    reader->at = position;
    return 0;
}

/* Reads the head of a part; *any says whether there was one. */
static int take_head(mxl_record_file *reader, uint32_t *word, bool *any)
{
    uint32_t head[2];
    size_t start = reader->at, got;
    char begins[MXL_BEGINNING_ROOM];

    if (take(reader, head, sizeof(head), &got) != 0)
        return -1;
    *any = got > 0;
    if (got == 0)
        return 0;
    if (got < sizeof(head))
        return mxl_error("the file ends at byte %zu, within the head of a record", reader->at);
    if (head[0] != magic)
        return mxl_error("no record begins at byte %zu: what is there %s", start,
                         mxl_beginning(begins, head, sizeof(head)));
    *word = head[1];
    return 0;
}

/* Makes room in the buffer for `size` bytes and the zeros that follow a part. */
static int make_room(mxl_record_file *reader, size_t size)
{
    size_t room = size + 4;
    char *larger;

    if (room <= reader->room)
        return 0;
    larger = mxl_realloc(reader->buffer, reader->room, room);
    if (larger == NULL) {
        reader->no_room = true;
        return -1;
    }
    reader->buffer = larger;
    reader->room = room;
    return 0;
}

/* Appends the content of a part to a record of `size` bytes. Memory grows with what has been read,
 * since the length may be wrong. */
static int take_content(mxl_record_file *reader, size_t size, size_t length)
{
    size_t left = (length + 3) & ~(size_t)3, got;

    while (left > 0) {
        size_t step = size > STEP ? size : STEP;

        if (step > left)
            step = left;
        if (make_room(reader, size + step) != 0 ||
            take(reader, reader->buffer + size, step, &got) != 0)
            return -1;
        if (got < step)
            return mxl_error("the file ends at byte %zu, within a record of %zu bytes", reader->at,
                             length);
        size += step;
        left -= step;
    }
    return 0;
}

static int read_parts(mxl_record_file *reader, size_t *size, bool *any)
{
    uint32_t word = 0, kind;

    *size = 0;
    if (make_room(reader, 0) != 0 || take_head(reader, &word, any) != 0)
        return -1;
    while (*any) {
        size_t length = word & (MXL_RECORD_LIMIT - 1);

        kind = word >> LENGTH_BITS;
        if (take_content(reader, *size, length) != 0)
            return -1;
        *size += length;
        if (kind == WHOLE || kind == LAST)
            return 0;
        if (make_room(reader, *size + sizeof(magic)) != 0)
            return -1;
        memcpy(reader->buffer + *size, &magic, sizeof(magic));
        *size += sizeof(magic);
        if (take_head(reader, &word, any) != 0)
            return -1;
        if (!*any)
            return mxl_error("the file ends at byte %zu, before the last part of a record",
                             reader->at);
        if (*size + (word & (MXL_RECORD_LIMIT - 1)) >= MXL_RECORD_LIMIT)
            return mxl_error("a record of 2^29 bytes or more, before byte %zu", reader->at);
    }
    return 0;
}

int mxl_record_read(mxl_record_file *reader, const char **bytes, size_t *size)
{
    size_t length, start;
    bool any = false;
    int status;

    mxl_mutex_lock(&reader->lock);
    start = reader->at;
    reader->no_room = false;
    status = read_parts(reader, &length, &any);
    if (reader->no_room && !reader->pipe)
        reader->at = start;
    if (status == 0) {
        *bytes = any ? reader->buffer : NULL;
        *size = length;
    }
    mxl_mutex_unlock(&reader->lock);
    return status;
}

static int skip_parts(mxl_record_file *reader, bool *any)
{
    uint32_t word = 0;
    bool more = true;

    if (take_head(reader, &word, any) != 0)
        return -1;
    while (*any && more) {
        size_t length = word & (MXL_RECORD_LIMIT - 1);
        uint32_t kind = word >> LENGTH_BITS;

        if (move_to(reader, reader->at + ((length + 3) & ~(size_t)3)) != 0)
            return -1;
        if (kind == WHOLE || kind == LAST)
            return 0;
        if (take_head(reader, &word, &more) != 0)
            return -1;
    }
    return 0;
}

int mxl_record_skip(mxl_record_file *reader, bool *any)
{
    int status;

    mxl_mutex_lock(&reader->lock);
    status = skip_parts(reader, any);
    mxl_mutex_unlock(&reader->lock);
    return status;
}

size_t mxl_record_tell(mxl_record_file *file)
{
    size_t at;

    mxl_mutex_lock(&file->lock);
    at = file->at;
    mxl_mutex_unlock(&file->lock);
    return at;
}

int mxl_record_seek(mxl_record_file *reader, size_t position)
{
    int status;

    mxl_mutex_lock(&reader->lock);
    status = move_to(reader, position);
    mxl_mutex_unlock(&reader->lock);
    return status;
}
