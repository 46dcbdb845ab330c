/* The process, clocks, the environment, memory and opened libraries of Windows. */
#include "base/system/process.h"

#include "base/system/dynamic.h"
#include "base/system/pages.h"
#include "base/system/utf16.h"

#if defined(MXL_WINDOWS)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long mxl_process_id(void)
{
    return (long)GetCurrentProcessId();
}

int64_t mxl_clock(void)
{
    LARGE_INTEGER ticks, second;

    (void)QueryPerformanceCounter(&ticks);
    (void)QueryPerformanceFrequency(&second);
    return ticks.QuadPart / second.QuadPart * 1000000000 +
           ticks.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}

int64_t mxl_clock_date(void)
{
    /* Steps of 100 ns between the beginnings of 1601 and of 1970. */
    const int64_t epoch = INT64_C(116444736000000000);
    FILETIME now;

    GetSystemTimePreciseAsFileTime(&now);
    return (((int64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - epoch) * 100;
}

/* An empty value removes a variable here. */
int mxl_environment_set(const char *name, const char *value)
{
    int problem = _putenv_s(name, value == NULL ? "" : value);

    if (problem != 0)
        errno = problem;
    return problem == 0 ? 0 : -1;
}

/* ---- memory ---- */

uint64_t mxl_pages_machine(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof(status)};

    return GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : 0;
}

uint64_t mxl_pages_limit(void)
{
    return 0;
}

void *mxl_pages_reserve(size_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

bool mxl_pages_open(void *at, size_t bytes, bool huge)
{
    (void)huge;
    return VirtualAlloc(at, bytes, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

void mxl_pages_discard(void *at, size_t bytes)
{
    (void)VirtualFree(at, bytes, MEM_DECOMMIT);
    (void)VirtualAlloc(at, bytes, MEM_COMMIT, PAGE_READWRITE);
}

void mxl_pages_release(void *at, size_t bytes)
{
    (void)bytes;
    (void)VirtualFree(at, 0, MEM_RELEASE);
}

void *mxl_pages_alloc(size_t bytes, size_t align)
{
    return _aligned_malloc(bytes, align);
}

void mxl_pages_free(void *block, size_t bytes)
{
    (void)bytes;
    _aligned_free(block);
}

/* ---- libraries, whose paths are UTF-8 ---- */

void *mxl_library_open(const char *path, const char **why)
{
    static _Thread_local char text[128];
    wchar_t wide[MXL_WIDE_ROOM];
    HMODULE library = NULL;

    if (mxl_wide(wide, path))
        library = LoadLibraryW(wide);
    *why = NULL;
    if (library == NULL) {
        (void)snprintf(text, sizeof(text), "error %lu of Windows", GetLastError());
        *why = text;
    }
    return (void *)library;
}

void *mxl_library_symbol(void *library, const char *name)
{
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *address;

    memcpy(&address, &found, sizeof(address));
    return address;
}

void mxl_library_close(void *library)
{
    (void)FreeLibrary((HMODULE)library);
}

static HMODULE library_of(const void *address)
{
    HMODULE library = NULL;

    (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                 GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                             (const wchar_t *)address, &library);
    return library;
}

void mxl_library_path(const void *address, char *path, size_t room)
{
    wchar_t wide[MXL_WIDE_ROOM];
    DWORD length = GetModuleFileNameW(library_of(address), wide, MXL_WIDE_ROOM);

    path[0] = '\0';
    if (length > 0 && length < MXL_WIDE_ROOM &&
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)room, NULL, NULL) == 0)
        path[0] = '\0';
}

/* Libraries here name the library that each symbol comes from. */
void mxl_library_stay(const void *address)
{
    (void)address;
}

#if defined(__aarch64__)
bool mxl_processor_has_dot_products(void)
{
    enum { DOT_PRODUCTS = 43 }; /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, of newer headers */

    return IsProcessorFeaturePresent(DOT_PRODUCTS) != 0;
}
#endif
#endif
