/* The process, clocks, the environment, memory, shared or not, and opened libraries of Windows. */
#include "base/system/process.h"

#include "base/error.h"
#include "base/system/dynamic.h"
#include "base/system/pages.h"
#include "base/system/shared_memory.h"
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
}

bool mxl_pages_reopen(void *at, size_t bytes)
{
    return mxl_pages_open(at, bytes, false);
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

#if !defined(MXL_NO_FILES)
void *mxl_library_open(const char *path, const char **why)
{
    static _Thread_local char text[128];
    wchar_t wide[MXL_WIDE_ROOM];
    HMODULE library = NULL;

    if (mxl_utf16(wide, path))
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

#endif

/* ---- shared memory: sections of the paging file; a descriptor is a handle, of which Windows uses
 * 32 bits ---- */

static int failed(const char *what)
{
    return mxl_error("shared memory: %s failed: error %lu of Windows", what, GetLastError());
}

static HANDLE handle_of(int fd)
{
    return (HANDLE)(intptr_t)fd;
}

static int descriptor_of(HANDLE handle)
{
    return (int)(intptr_t)handle;
}

int mxl_shared_memory_new(size_t bytes)
{
    uint64_t length = bytes == 0 ? 1 : bytes;
    HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE | SEC_COMMIT,
                                        (DWORD)(length >> 32), (DWORD)(length & UINT32_MAX), NULL);

    if (section == NULL)
        return mxl_error("shared memory: %zu bytes: error %lu of Windows", bytes, GetLastError());
    return descriptor_of(section);
}

/* The bytes of a section, whole pages; 0 with the system's error for what is none. */
static size_t size_of(HANDLE section)
{
    void *all = MapViewOfFile(section, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, 0);
    MEMORY_BASIC_INFORMATION info = {0};

    if (all == NULL)
        return 0;
    (void)VirtualQuery(all, &info, sizeof(info));
    (void)UnmapViewOfFile(all);
    return info.RegionSize;
}

int mxl_shared_memory_check(int fd, size_t bytes)
{
    size_t size = fd <= 0 ? 0 : size_of(handle_of(fd));

    if (fd <= 0)
        return mxl_error("shared memory: descriptor %d: it is none", fd);
    if (size == 0)
        return mxl_error("shared memory: descriptor %d: error %lu of Windows", fd, GetLastError());
    if (size < bytes)
        return mxl_error("shared memory: descriptor %d has %zu bytes, the shape wants %zu", fd,
                         size, bytes);
    return 0;
}

void *mxl_shared_memory_map(int fd, size_t bytes)
{
    void *start = MapViewOfFile(handle_of(fd), FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, bytes);

    return start == NULL ? ((void)failed("mapping"), NULL) : start;
}

void mxl_shared_memory_unmap(void *start, size_t bytes)
{
    (void)bytes;
    (void)UnmapViewOfFile(start);
}

int mxl_shared_memory_duplicate(int fd)
{
    HANDLE made, process = GetCurrentProcess();

    if (DuplicateHandle(process, handle_of(fd), process, &made, 0, FALSE, DUPLICATE_SAME_ACCESS) ==
        0)
        return failed("duplicating it");
    return descriptor_of(made);
}

void mxl_shared_memory_close(int fd)
{
    (void)CloseHandle(handle_of(fd));
}

#if defined(__aarch64__)
bool mxl_processor_has_dot_products(void)
{
    enum { DOT_PRODUCTS = 43 }; /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, of newer headers */

    return IsProcessorFeaturePresent(DOT_PRODUCTS) != 0;
}
#endif
#endif
