/* Forks of the process. The child has the thread that forked alone: a lock that another thread held
 * would stay locked in it. So a fork takes every lock of the library first, in one order: a lock
 * that is held while another is taken comes before that. */
#ifndef MXL_BASE_FORK_H
#define MXL_BASE_FORK_H

/* Who has such locks, from the last to be taken to the first. */
typedef enum mxl_fork_level {
    MXL_FORK_STATE, /* threads, handles, memory */
    MXL_FORK_PROFILE,
    MXL_FORK_BLAS,
    MXL_FORK_EXPRESSIONS,
    MXL_FORK_REMAKES,
    MXL_FORK_PREPARED,
    MXL_FORK_SETTINGS,
    MXL_FORK_DATA,
    MXL_FORK_LEVELS
} mxl_fork_level;

/* Calls `prepare` before each fork, and afterwards `parent` in the parent and `child` in the child,
 * in the order of the levels and back. To be called as the library is loaded (by a constructor),
 * once for a level. */
void mxl_fork_guard(mxl_fork_level level, void (*prepare)(void), void (*parent)(void),
                    void (*child)(void));

#endif
