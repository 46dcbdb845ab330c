/* Text files, line by line, and the words of a line, which blanks separate. For csv.c, libsvm.c and
 * images/image_list.c. */
#ifndef MXL_DATA_LINES_H
#define MXL_DATA_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/content.h"

/* Room for a word; of one that is longer, what fits and "...", which is no number. */
enum { MXL_WORD = 64 };

typedef struct mxl_lines {
    const char *path;
    mxl_content content;
    const char *next;  /* where the next line begins */
    const char *at;    /* what is left of the present line, */
    const char *end;   /* up to here */
    const char *begin; /* of the present line */
    int64_t number;    /* of the present line, from 1 */
} mxl_lines;

/* Reads a file; before its first line. `path` must live as long. -1 with the error set. */
int mxl_lines_open(mxl_lines *lines, const char *path);
void mxl_lines_close(mxl_lines *lines);

/* Before the first line again. */
void mxl_lines_restart(mxl_lines *lines);

/* Goes to the next line that is not blank; false at the end of the file. */
bool mxl_lines_next(mxl_lines *lines);

/* The next word of the present line; false at its end. */
bool mxl_lines_word(mxl_lines *lines, char word[MXL_WORD]);

/* The number of lines that are not blank. */
int64_t mxl_lines_count(const mxl_lines *lines);

/* Sets the error "path: line n: text"; -1. */
int mxl_lines_error(const mxl_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Blanks are spaces, tabs and carriage returns. */
static inline bool mxl_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

#endif
