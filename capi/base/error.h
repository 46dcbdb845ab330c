/* The thread's last error. The function that detects a failure sets it, its callers return -1 (or
 * NULL, or 0). */
#ifndef MXL_BASE_ERROR_H
#define MXL_BASE_ERROR_H

#if defined(__GNUC__)
#define MXL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MXL_PRINTF(fmt, args)
#endif

/* How a message names a page of the documentation: by the command that prints it. */
#define MXL_HELP(page) "`mxlite help " page "`"

/* Stores one line as the calling thread's message; always returns -1. Never allocates: the message
 * lies in the thread's state, and a line that is too long ends in "...". A line break in the text
 * becomes a space. An operator's name at its beginning loses the prefix of its module:
 * "_random_randint: ..." becomes "randint: ...". */
#define mxl_error(...) (mxl_error_set(__VA_ARGS__), mxl_failed())
void mxl_error_set(const char *fmt, ...) MXL_PRINTF(1, 2);

/* -1, visible to the compiler: it sees that a caller returns after a failure and warns of no
 * uninitialised outputs. */
static inline int mxl_failed(void)
{
    return -1;
}

/* The same, returning NULL; for functions that return a pointer. */
void *mxl_error_null(const char *fmt, ...) MXL_PRINTF(1, 2);

/* "out of memory: N bytes were asked for". Returns -1. */
int mxl_error_memory(unsigned long long bytes);

/* Puts "prefix: " before the current message ("tanh: ..."), unless the message begins with it. In a
 * message that begins with a Python exception ("ValueError: ...") the prefix follows that name.
 * Returns -1. */
#define mxl_error_prefix(prefix) (mxl_error_put_before(prefix), mxl_failed())
void mxl_error_put_before(const char *prefix);

/* The last message of this thread; "" before the first failure; never NULL. Borrowed until the
 * thread's next failure. */
const char *mxl_error_text(void);

#endif
