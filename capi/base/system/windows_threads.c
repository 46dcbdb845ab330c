/* Threads of Windows: slim locks, condition variables, fibre-local storage for ends of threads. */
#include "base/system/processors.h"

#if defined(MXL_WINDOWS) && !defined(MXL_NO_THREADS)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <process.h>
#include <stdlib.h>

_Static_assert(sizeof(mxl_mutex) == sizeof(SRWLOCK) &&
                   sizeof(mxl_cond) == sizeof(CONDITION_VARIABLE) &&
                   sizeof(mxl_once_flag) == sizeof(INIT_ONCE),
               "threads.h holds what Windows keeps in these");

static SRWLOCK *lock_of(mxl_mutex *mutex)
{
    return (SRWLOCK *)(void *)mutex;
}

static CONDITION_VARIABLE *variable_of(mxl_cond *cond)
{
    return (CONDITION_VARIABLE *)(void *)cond;
}

void mxl_mutex_init(mxl_mutex *mutex)
{
    mutex->word = NULL;
}

void mxl_mutex_destroy(mxl_mutex *mutex)
{
    (void)mutex;
}

void mxl_mutex_lock(mxl_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

bool mxl_mutex_try(mxl_mutex *mutex)
{
    return TryAcquireSRWLockExclusive(lock_of(mutex)) != 0;
}

void mxl_mutex_unlock(mxl_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

void mxl_cond_destroy(mxl_cond *cond)
{
    (void)cond;
}

void mxl_cond_wait(mxl_cond *cond, mxl_mutex *mutex)
{
    (void)SleepConditionVariableSRW(variable_of(cond), lock_of(mutex), INFINITE, 0);
}

void mxl_cond_signal(mxl_cond *cond)
{
    WakeConditionVariable(variable_of(cond));
}

void mxl_cond_broadcast(mxl_cond *cond)
{
    WakeAllConditionVariable(variable_of(cond));
}

typedef struct call {
    void (*run)(void);
} call;

static BOOL CALLBACK call_once(INIT_ONCE *once, void *data, void **unused)
{
    (void)once;
    (void)unused;
    ((const call *)data)->run();
    return TRUE;
}

void mxl_once(mxl_once_flag *flag, void (*run)(void))
{
    call c = {run};

    (void)InitOnceExecuteOnce((INIT_ONCE *)(void *)flag, call_once, &c, NULL);
}

void mxl_thread_yield(void)
{
    (void)SwitchToThread();
}

typedef struct beginning {
    void *(*run)(void *);
    void *data;
} beginning;

static unsigned __stdcall begin(void *data)
{
    beginning b = *(const beginning *)data;

    free(data);
    (void)b.run(b.data);
    return 0;
}

bool mxl_thread_start(mxl_thread *thread, size_t stack, void *(*run)(void *), void *data)
{
    beginning *b = malloc(sizeof(*b));

    if (b == NULL)
        return false;
    *b = (beginning){run, data};
    *thread = (void *)_beginthreadex(NULL, (unsigned)stack, begin, b,
                                     stack == 0 ? 0 : STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (*thread == NULL)
        free(b);
    return *thread != NULL;
}

void mxl_thread_join(mxl_thread thread)
{
    (void)WaitForSingleObject(thread, INFINITE);
    (void)CloseHandle(thread);
}

void mxl_thread_detach(mxl_thread thread)
{
    (void)CloseHandle(thread);
}

/* Keeps the library that has this code in the process, though a program closes it: each thread that
 * has a value calls `end` of it when it ends, the last one with the process. */
static void keep_loaded(const void *code)
{
    HMODULE library;

    (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                             (const wchar_t *)code, &library);
}

bool mxl_thread_key_make(mxl_thread_key *key, void (*end)(void *value))
{
    keep_loaded((void *)end);
    *key = FlsAlloc((PFLS_CALLBACK_FUNCTION)(void *)end);
    return *key != FLS_OUT_OF_INDEXES;
}

bool mxl_thread_key_set(mxl_thread_key key, void *value)
{
    return FlsSetValue(key, value) != 0;
}

int mxl_processors(void)
{
    DWORD_PTR ours, all;
    SYSTEM_INFO info;

    if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) != 0 && ours != 0)
        return __builtin_popcountll(ours);
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors < 1 ? 1 : (int)info.dwNumberOfProcessors;
}
#endif
