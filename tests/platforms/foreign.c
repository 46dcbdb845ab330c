/* A program that was linked without mxlite and opens it as it runs, three times over: its threads,
 * the first one too, make arrays, record a square and differentiate it. argv: the library, and
 * "large" for arrays on which the library's own threads work, and so are there when it is closed.
 * make test-platforms runs this. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
typedef HMODULE library;
typedef HANDLE thread;
#else
#include <dlfcn.h>
#include <pthread.h>
typedef void *library;
typedef pthread_t thread;
#endif

enum { THREADS = 4, STEPS = 200, ROUNDS = 3, LARGE = 512 };

typedef void *handle;

static bool large;

static struct {
    int (*create)(const int64_t *, int, int, int, int, int, handle *);
    int (*release)(handle);
    int (*write)(handle, const void *, size_t);
    int (*read)(handle, void *, size_t);
    int (*find)(const char *, handle *);
    int (*invoke)(handle, int, handle *, int *, handle **, int, const char **, const char **,
                  const int **);
    int (*mark)(uint32_t, handle *, uint32_t *, handle *);
    int (*record)(int, int *);
    int (*backward)(uint32_t, handle *, handle *, int);
    int (*gradient)(handle, handle *);
    int (*wait)(void);
    const char *(*said)(void);
} api;

static const char *const names[] = {"MXNDArrayCreateEx64",
                                    "MXNDArrayFree",
                                    "MXNDArraySyncCopyFromCPU",
                                    "MXNDArraySyncCopyToCPU",
                                    "NNGetOpHandle",
                                    "MXImperativeInvokeEx",
                                    "MXAutogradMarkVariables",
                                    "MXAutogradSetIsRecording",
                                    "MXAutogradBackward",
                                    "MXNDArrayGetGrad",
                                    "MXNDArrayWaitAll",
                                    "MXGetLastError"};

static library open_library(const char *path)
{
#ifdef _WIN32
    library made = LoadLibraryA(path);
#else
    library made = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (made == NULL)
        fprintf(stderr, "foreign: %s\n", dlerror());
#endif
    for (size_t i = 0; made != NULL && i < sizeof(names) / sizeof(*names); i++) {
#ifdef _WIN32
        FARPROC found = GetProcAddress(made, names[i]);
#else
        void *found = dlsym(made, names[i]);
#endif
        if (found == NULL)
            return NULL;
        memcpy((char *)&api + i * sizeof(found), &found, sizeof(found));
    }
    return made;
}

static void close_library(library made)
{
#ifdef _WIN32
    (void)FreeLibrary(made);
#else
    (void)dlclose(made);
#endif
}

/* The gradient of x * x is 2 x; x has `side` * `side` elements. */
static bool step(int64_t side, handle multiply)
{
    const int64_t shape[2] = {side, side};
    size_t size = (size_t)(side * side);
    float *zeros = calloc(size, sizeof(float)), *values = calloc(size, sizeof(float));
    float *gradient = calloc(size, sizeof(float));
    handle x = NULL, held = NULL, inputs[2], *outputs = NULL, product = NULL, found = NULL;
    const int *storage;
    uint32_t write = 1;
    int count = 0, before;
    bool right = zeros != NULL && values != NULL && gradient != NULL;

    for (size_t i = 0; i < size && right; i++)
        values[i] = (float)i - 5;
    right = right && api.create(shape, 2, 1, 0, 0, 0, &x) == 0 &&
            api.create(shape, 2, 1, 0, 0, 0, &held) == 0 && api.write(x, values, size) == 0 &&
            api.write(held, zeros, size) == 0 && api.mark(1, &x, &write, &held) == 0 &&
            api.record(1, &before) == 0;
    inputs[0] = inputs[1] = x;
    right = right &&
            api.invoke(multiply, 2, inputs, &count, &outputs, 0, NULL, NULL, &storage) == 0 &&
            count == 1;
    product = count == 1 ? outputs[0] : NULL; /* the list is good until the next call */
    right = right && api.record(0, &before) == 0 && api.backward(1, &product, NULL, 0) == 0 &&
            api.gradient(x, &found) == 0 && api.read(found, gradient, size) == 0;
    for (size_t i = 0; i < size && right; i++)
        right = gradient[i] == 2 * values[i];
    if (!right)
        fprintf(stderr, "foreign: wrong: %s\n", api.said());
    (void)api.release(product);
    (void)api.release(found);
    (void)api.release(held);
    (void)api.release(x);
    free(zeros);
    free(values);
    free(gradient);
    return right;
}

static bool steps(void)
{
    handle multiply = NULL;
    bool right = api.find("elemwise_mul", &multiply) == 0;

    for (int i = 0; i < STEPS && right; i++)
        right = step(i == 0 && large ? LARGE : i % 3 == 0 ? 64 : 1 + i % 7, multiply);
    return right;
}

#ifdef _WIN32
static DWORD WINAPI run(void *right)
{
    *(bool *)right = steps();
    return 0;
}

static bool start(thread *made, bool *right)
{
    *made = CreateThread(NULL, 0, run, right, 0, NULL);
    return *made != NULL;
}

static void finish(thread made)
{
    (void)WaitForSingleObject(made, INFINITE);
    (void)CloseHandle(made);
}
#else
static void *run(void *right)
{
    *(bool *)right = steps();
    return NULL;
}

static bool start(thread *made, bool *right)
{
    return pthread_create(made, NULL, run, right) == 0;
}

static void finish(thread made)
{
    (void)pthread_join(made, NULL);
}
#endif

int main(int argc, char **argv)
{
    large = argc == 3 && strcmp(argv[2], "large") == 0;
    for (int round = 0; round < ROUNDS; round++) {
        library made = argc >= 2 ? open_library(argv[1]) : NULL;
        bool right[THREADS] = {false};
        thread threads[THREADS];
        int started = 0;
        bool first_right;

        if (made == NULL) {
            fprintf(stderr, "foreign: the library cannot be opened\n");
            return 2;
        }
        while (started < THREADS && start(&threads[started], &right[started]))
            started++;
        first_right = steps();
        for (int i = 0; i < started; i++)
            finish(threads[i]);
        for (int i = 0; i < THREADS; i++) {
            if (!first_right || !right[i] || api.wait() != 0) {
                fprintf(stderr, "foreign: thread %d of round %d: wrong\n", i, round);
                return 1;
            }
        }
        close_library(made);
    }
    printf("foreign: %d threads, %d rounds: right\n", THREADS, ROUNDS);
    return 0;
}
