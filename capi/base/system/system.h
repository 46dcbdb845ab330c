/* Which system this is built for; included by the files of this folder alone. Each has what it says
 * for one kind of system, and is empty for the others.
 *
 *     MXL_POSIX    Linux (glibc, musl), macOS and other POSIX systems
 *     MXL_WINDOWS  Windows, by its own interface
 *     MXL_BARE     a C library and nothing else: WebAssembly, and what is built with -DMXL_BARE=1
 *
 * MXL_NO_THREADS builds without threads: all work is done by the thread that calls. MXL_NO_FILES
 * builds without files, and so without libraries that are opened: what reads or writes one fails.
 */
#ifndef MXL_BASE_SYSTEM_SYSTEM_H
#define MXL_BASE_SYSTEM_SYSTEM_H

#if !defined(MXL_BARE) && defined(__wasm__)
#define MXL_BARE 1
#endif

#if defined(MXL_BARE) && !defined(MXL_NO_THREADS)
#define MXL_NO_THREADS 1
#endif

#if defined(MXL_BARE)
#elif defined(_WIN32)
#define MXL_WINDOWS 1
#elif defined(__unix__) || defined(__APPLE__)
#define MXL_POSIX 1
#else
#error                                                                                             \
    "mxlite needs POSIX (threads, mmap, dlopen), Windows, or a C17 library alone with -DMXL_BARE=1"
#endif

#endif
