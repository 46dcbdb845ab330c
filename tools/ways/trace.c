/* Linked into a library that is built with -finstrument-functions (make ways): it notes which
 * functions run between trace_begin and trace_end, on the thread that called trace_begin. */
#include <stddef.h>

#define PLAIN  __attribute__((no_instrument_function))
#define PUBLIC __attribute__((visibility("default"))) PLAIN

enum { MOST = 100000 };

typedef struct {
    void *function;
    int depth; /* how many functions of the library were entered and not left */
} entry;

static entry entries[MOST];
static size_t count;
static __thread int depth;
static __thread int on;

PUBLIC void __cyg_profile_func_enter(void *function, void *caller);
PUBLIC void __cyg_profile_func_exit(void *function, void *caller);
PUBLIC void trace_begin(void);
PUBLIC size_t trace_end(const entry **out);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (on && count < MOST)
        entries[count++] = (entry){function, depth};
    depth++;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
    depth--;
}

void trace_begin(void)
{
    count = 0;
    on = 1;
}

/* How many functions were entered since trace_begin; *out is valid until the next one. */
size_t trace_end(const entry **out)
{
    on = 0;
    *out = entries;
    return count;
}
