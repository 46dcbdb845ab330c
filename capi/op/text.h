/* Parses numbers and tuples in the spellings that MXNet 1.9.1 accepts; for param.c. No function
 * here sets the error: the caller names operator and parameter. None depends on the locale. */
#ifndef MXL_OP_TEXT_H
#define MXL_OP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mxl_text_result {
    MXL_TEXT_OK,
    MXL_TEXT_MALFORMED,
    MXL_TEXT_RANGE /* well-formed, but outside the type's range */
} mxl_text_result;

/* Parses a decimal integer at *at, with leading blanks and an optional sign; moves *at behind it.
 */
mxl_text_result mxl_text_int_at(const char **at, int64_t *value);

/* The whole text is an integer, with blanks around it: "3", " -1 "; with `suffix` also "3L". */
mxl_text_result mxl_text_int(const char *text, bool suffix, int64_t *value);

/* The whole text is a number with leading blanks: "1e-3", ".5", "inf", "-INFINITY", "nan", "0.5f".
 * Correctly rounded. Out of range: a magnitude above the largest double, or one that rounds to 0.
 */
mxl_text_result mxl_text_float(const char *text, double *value);

/* "1", "0", "true", "false", the words in any case. */
mxl_text_result mxl_text_bool(const char *text, int *value);

/* The same or "none" (-1), with blanks around it. */
mxl_text_result mxl_text_opt_bool(const char *text, int *value);

/* "(2,3)", "[2, 3]", "(2,)", "()", "2", " ( 2L , +1 ) ": stores at most `room` integers in values
 * and their number in *count, which may be larger than `room`. With `none`, an entry of a bracketed
 * tuple may be "None" (MXL_NONE), and a single integer may end in L. */
mxl_text_result mxl_text_tuple(const char *text, bool none, int room, int64_t *values, int *count);

/* "((1,2),(3,4))", "[[1, 2]]", "()": stores at most `room` integers, two of each pair, and their
 * number in *count. */
mxl_text_result mxl_text_pairs(const char *text, int room, int64_t *values, int *count);

/* The same as mxl_text_tuple with numbers as mxl_text_float takes them: "(0.5, 1e-3)", "[1]",
 * "0.1". */
mxl_text_result mxl_text_floats(const char *text, int room, double *values, int *count);

/* The text is "None", with trailing blanks. */
bool mxl_text_is_none(const char *text);

#endif
