/* Reading whole files; see base/content.h. */
#include "base/content.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/file_io.h"

/* The first piece of memory; each further one doubles it. */
enum { FIRST_ROOM = 1 << 16 };

const char *mxl_local_path(const char *uri)
{
    if (strstr(uri, "://") == NULL)
        return uri;
    if (strncmp(uri, "file://", 7) == 0)
        return uri + 7;
    return mxl_error_null("'%s': only local files are supported, as a path or as file://path", uri);
}

/* Reads to the end of the file. The block has one byte more than was read, at least. */
static int read_all(FILE *file, mxl_content *content, size_t *room)
{
    while (true) {
        size_t larger = *room == 0 ? FIRST_ROOM : 2 * *room;
        char *bytes = mxl_realloc(content->bytes, *room, larger);

        if (bytes == NULL)
            return -1;
        content->bytes = bytes;
        *room = larger;
        content->size += mxl_file_get(file, bytes + content->size, larger - 1 - content->size);
        if (mxl_file_failed(file))
            return mxl_error("reading failed at byte %zu: %s", content->size, strerror(errno));
        if (content->size < larger - 1)
            return 0;
    }
}

/* Gives the memory back that the content does not need, so that its size says how much that is. */
static int trim(mxl_content *content, size_t room)
{
    char *bytes = mxl_realloc(content->bytes, room, content->size + 1);

    if (bytes == NULL)
        return -1;
    bytes[content->size] = '\0';
    content->bytes = bytes;
    return 0;
}

int mxl_content_read(const char *uri, mxl_content *content)
{
    const char *path = mxl_local_path(uri);
    FILE *file = path != NULL ? mxl_file_open(path, true, NULL, NULL) : NULL;
    size_t room = 0;
    int status = 0;

    *content = (mxl_content){0};
    if (path == NULL)
        return -1;
    if (file == NULL)
        return mxl_error("cannot open \"%s\": %s", path, mxl_file_why(errno));
    if (read_all(file, content, &room) != 0 || trim(content, room) != 0) {
        mxl_error_put_before(path);
        mxl_free(content->bytes, room);
        *content = (mxl_content){0};
        status = -1;
    }
    (void)mxl_file_close(file);
    return status;
}

void mxl_content_free(mxl_content *content)
{
    if (content->bytes != NULL)
        mxl_free(content->bytes, content->size + 1);
    *content = (mxl_content){0};
}

/* ---- how files begin ---- */

static const struct {
    const char *bytes;
    size_t size;
    const char *name;
} beginnings[] = {
    {"PK\3\4", 4, "a zip archive"},
    {"\x89PNG", 4, "a PNG image"},
    {"\xff\xd8\xff", 3, "a JPEG image"},
    {"GIF8", 4, "a GIF image"},
    {"\x1f\x8b", 2, "a gzip file"},
    {"BZh", 3, "a bzip2 file"},
    {"\xfd"
     "7zXZ",
     5, "an xz file"},
    {"\x93NUMPY", 6, "a NumPy file"},
    {"\x89HDF", 4, "an HDF5 file"},
    {"%PDF", 4, "a PDF file"},
    {"\x7f"
     "ELF",
     4, "a program"},
    {"\x80\2", 2, "a pickle"},
    {"\x80\3", 2, "a pickle"},
    {"\x80\4", 2, "a pickle"},
    {"\x80\5", 2, "a pickle"},
    {"\x0a\x23\xd7\xce", 4, "a file of records"},
    {"\x12\1\0\0\0\0\0\0", 8, "a file of arrays"},
};

/* Copies text to `room`, with spaces for line ends; false for anything else. */
static bool as_text(char *room, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool space = bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t';

        if (!space && (bytes[i] < ' ' || bytes[i] > '~'))
            return false;
        room[i] = space ? ' ' : bytes[i];
    }
    room[size] = '\0';
    return size > 0;
}

const char *mxl_beginning(char room[MXL_BEGINNING_ROOM], const void *bytes, size_t size)
{
    enum { TEXT = 16, BYTES = 8 };
    char text[TEXT + 1];
    int at;

    if (size == 0)
        return strcpy(room, "has no bytes");
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
        if (size >= beginnings[i].size &&
            memcmp(bytes, beginnings[i].bytes, beginnings[i].size) == 0) {
            (void)snprintf(room, MXL_BEGINNING_ROOM, "begins as %s does", beginnings[i].name);
            return room;
        }
    }
    if (as_text(text, bytes, size < TEXT ? size : TEXT)) {
        (void)snprintf(room, MXL_BEGINNING_ROOM, "begins with the text \"%s\"", text);
        return room;
    }
    at = snprintf(room, MXL_BEGINNING_ROOM, "begins with the bytes");
    for (size_t i = 0; i < size && i < BYTES; i++)
        at += snprintf(room + at, MXL_BEGINNING_ROOM - (size_t)at, " %02x",
                       ((const unsigned char *)bytes)[i]);
    return room;
}
