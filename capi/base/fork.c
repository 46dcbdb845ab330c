/* The library's one set of fork handlers; see fork.h. */
#include "base/fork.h"

#include <stddef.h>

#include "base/system/threads.h"

static struct {
    void (*prepare)(void), (*parent)(void), (*child)(void);
} guards[MXL_FORK_LEVELS];

void mxl_fork_guard(mxl_fork_level level, void (*prepare)(void), void (*parent)(void),
                    void (*child)(void))
{
    guards[level].prepare = prepare;
    guards[level].parent = parent;
    guards[level].child = child;
}

static void prepare(void)
{
    for (int i = MXL_FORK_LEVELS - 1; i >= 0; i--) {
        if (guards[i].prepare != NULL)
            guards[i].prepare();
    }
}

static void parent(void)
{
    for (int i = 0; i < MXL_FORK_LEVELS; i++) {
        if (guards[i].parent != NULL)
            guards[i].parent();
    }
}

static void child(void)
{
    for (int i = 0; i < MXL_FORK_LEVELS; i++) {
        if (guards[i].child != NULL)
            guards[i].child();
    }
}

__attribute__((constructor)) static void start(void)
{
    (void)mxl_system_at_fork(prepare, parent, child);
}
