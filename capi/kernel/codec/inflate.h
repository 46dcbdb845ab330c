/* Decompression of zlib's and gzip's formats (RFC 1950, 1951, 1952). For png.c and data/mnist.c. */
#ifndef MXL_KERNEL_CODEC_INFLATE_H
#define MXL_KERNEL_CODEC_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/* No byte of compressed data becomes more than this many. */
enum { MXL_INFLATE_MOST = 1032 };

/* Decompresses exactly `room` bytes. -1 with the error set: the data are damaged, end too early, or
 * become another number of bytes. */
int mxl_inflate_zlib(const uint8_t *data, size_t size, uint8_t *out, size_t room);

/* Decompresses a gzip file into a new block of *size bytes and a 0; the block has *size + 1 bytes.
 * -1 with the error set. */
int mxl_inflate_gzip(const uint8_t *data, size_t bytes, char **out, size_t *size);

/* The CRC-32 of bytes, continued from that of those before them (0 at the begin). */
uint32_t mxl_crc32(uint32_t crc, const uint8_t *bytes, size_t size);

#endif
