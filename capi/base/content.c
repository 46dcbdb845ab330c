/* Reading whole files; see base/content.h. */
#include "base/content.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"

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
        content->size += fread(bytes + content->size, 1, larger - 1 - content->size, file);
        if (ferror(file))
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
    FILE *file = path != NULL ? fopen(path, "rbe") : NULL;
    size_t room = 0;
    int status = 0;

    *content = (mxl_content){0};
    if (path == NULL)
        return -1;
    if (file == NULL)
        return mxl_error("cannot open \"%s\": %s", path, strerror(errno));
    if (read_all(file, content, &room) != 0 || trim(content, room) != 0) {
        mxl_error_put_before(path);
        mxl_free(content->bytes, room);
        *content = (mxl_content){0};
        status = -1;
    }
    (void)fclose(file);
    return status;
}

void mxl_content_free(mxl_content *content)
{
    if (content->bytes != NULL)
        mxl_free(content->bytes, content->size + 1);
    *content = (mxl_content){0};
}
