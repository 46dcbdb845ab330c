/* The parts of the JPEG decoder: jpeg.c reads markers, jpeg_scan.c the coefficients of a scan,
 * jpeg_pixels.c makes pixels of them. */
#ifndef MXL_KERNEL_CODEC_JPEG_H
#define MXL_KERNEL_CODEC_JPEG_H

#include "kernel/codec/codec.h"

enum { MXL_JPEG_FAST = 9, MXL_JPEG_COMPONENTS = 4 };

/* Huffman codes. `fast` has length << 8 | symbol by the next 9 bits, 0 for longer codes. */
typedef struct mxl_jpeg_codes {
    bool defined;
    uint16_t fast[1 << MXL_JPEG_FAST];
    int32_t last[18];  /* the largest code of each length, -1 if there is none */
    int32_t start[17]; /* the place of a code of that length in `symbol`, less the code */
    uint8_t symbol[256];
} mxl_jpeg_codes;

typedef struct mxl_jpeg_component {
    int id, across, down;        /* blocks of a unit in each direction */
    int table;                   /* of the quantisation */
    int dc, ac;                  /* its codes in the present scan */
    int previous;                /* the DC coefficient before */
    int64_t columns, rows;       /* samples */
    int64_t blocks, block_rows;  /* blocks that have samples */
    int64_t stride, stored_rows; /* blocks with those that fill the last units */
    int16_t *coefficients;       /* 64 for each block, in natural order */
    uint16_t quantisation[64];   /* as of its first scan, natural order */
    bool seen;                   /* it was in a scan */
} mxl_jpeg_component;

typedef struct mxl_jpeg {
    const uint8_t *data;
    size_t size, at;
    int64_t columns, rows;
    int components, across, down; /* the largest of the components */
    bool progressive;
    int scans;     /* so far */
    int restart;   /* units between restarts; 0: none */
    int transform; /* of Adobe's marker: -1 without one */
    bool jfif;
    int orientation;        /* of EXIF, 1 to 8 */
    uint16_t tables[4][64]; /* of quantisation, natural order */
    bool has_table[4];
    mxl_jpeg_codes dc[4], ac[4];
    mxl_jpeg_component component[MXL_JPEG_COMPONENTS];
} mxl_jpeg;

/* Natural places of coefficients in their order in files. */
extern const uint8_t mxl_jpeg_order[64];

/* The components of a scan and its part of the coefficients. */
typedef struct mxl_jpeg_scan {
    int count;
    mxl_jpeg_component *component[MXL_JPEG_COMPONENTS];
    int first, last; /* coefficients */
    int high, low;   /* bits that earlier scans had, and that this one leaves out */
} mxl_jpeg_scan;

/* Makes codes of the numbers of codes of each length and their symbols. -1 with the error set. */
int mxl_jpeg_make_codes(mxl_jpeg_codes *codes, const uint8_t *counts, int symbols,
                        const uint8_t *symbol);

/* Reads the coefficients of a scan, which begin at j->at, and moves it to the next marker. -1 with
 * the error set. */
int mxl_jpeg_read_scan(mxl_jpeg *j, const mxl_jpeg_scan *scan);

/* The pixels of all coefficients. -1 with the error set. */
int mxl_jpeg_pixels(mxl_jpeg *j, bool color, mxl_bitmap *image);

#endif
