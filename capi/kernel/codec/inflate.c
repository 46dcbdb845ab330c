/* Decompression: Huffman codes by a table of 9 bits, longer ones bit by bit; see inflate.h. */
#include "kernel/codec/inflate.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/threads.h"

enum { FAST = 9, LONGEST = 15, LITERALS = 288, DISTANCES = 32, END_OF_BLOCK = 256 };

/* The codes of an alphabet. `fast` has symbol << 4 | length by the next 9 bits, 0 for longer codes;
 * these go by their number of codes of each length and the symbols in the order of codes. */
typedef struct codes {
    uint16_t fast[1 << FAST];
    uint16_t count[LONGEST + 1];
    uint16_t symbol[LITERALS];
} codes;

typedef struct stream {
    const uint8_t *in, *end;
    uint64_t bits; /* read and not used, the next one lowest */
    int held;      /* how many of them */
    int missing;   /* bits that were taken for zeros behind the end */
    uint8_t *out;
    size_t made, room;
    bool grows;
    codes literal, distance;
} stream;

static int damaged(const char *what)
{
    return mxl_error("the compressed data are damaged: %s", what);
}

/* ---- bits ---- */

/* At least 32 bits are there afterwards; behind the end they are zeros. */
static inline void refill(stream *s)
{
    while (s->held <= 56) {
        if (s->in < s->end)
            s->bits |= (uint64_t)*s->in++ << s->held;
        else
            s->missing += 8;
        s->held += 8;
    }
}

static inline void drop(stream *s, int n)
{
    s->bits >>= n;
    s->held -= n;
}

/* The next n <= 16 bits. */
static inline uint32_t take(stream *s, int n)
{
    uint32_t value;

    refill(s);
    value = (uint32_t)s->bits & ((1u << n) - 1);
    drop(s, n);
    return value;
}

/* True if bits behind the end have been used. */
static inline bool overrun(const stream *s)
{
    return s->missing > s->held;
}

/* ---- output ---- */

/* Makes room for n more bytes. */
static int need(stream *s, size_t n)
{
    size_t room = s->room;
    uint8_t *larger;

    if (n <= s->room - s->made)
        return 0;
    if (!s->grows)
        return damaged("they have more bytes than they should have");
    while (room - s->made < n)
        room = room == 0 ? 1 << 16 : 2 * room;
    larger = mxl_realloc(s->out, s->room, room);
    if (larger == NULL)
        return -1;
    s->out = larger;
    s->room = room;
    return 0;
}

/* ---- codes ---- */

/* Makes the codes of symbols from their lengths. Codes may be incomplete, but no two may clash. */
static int make_codes(codes *c, const uint8_t *length, int n)
{
    uint16_t offset[LONGEST + 2] = {0}, next[LONGEST + 2] = {0};
    int left = 1;

    memset(c, 0, sizeof(*c));
    for (int i = 0; i < n; i++)
        c->count[length[i]]++;
    c->count[0] = 0;
    for (int bits = 1; bits <= LONGEST; bits++) {
        left = 2 * left - c->count[bits];
        if (left < 0)
            return damaged("codes clash");
        offset[bits + 1] = (uint16_t)(offset[bits] + c->count[bits]);
        next[bits + 1] = (uint16_t)((next[bits] + c->count[bits]) << 1);
    }
    for (int i = 0; i < n; i++) {
        int bits = length[i];
        uint32_t code, reversed = 0;

        if (bits == 0)
            continue;
        c->symbol[offset[bits]++] = (uint16_t)i;
        code = next[bits]++;
        if (bits > FAST)
            continue;
        for (int k = 0; k < bits; k++)
            reversed |= (code >> k & 1) << (bits - 1 - k);
        for (uint32_t at = reversed; at < 1u << FAST; at += 1u << bits)
            c->fast[at] = (uint16_t)(i << 4 | bits);
    }
    return 0;
}

/* The next symbol; -1 for no code. */
static inline int decode(stream *s, const codes *c)
{
    int entry, code = 0, first = 0, index = 0;

    refill(s);
    entry = c->fast[s->bits & ((1 << FAST) - 1)];
    if (entry != 0) {
        drop(s, entry & 15);
        return entry >> 4;
    }
    for (int bits = 1; bits <= LONGEST; bits++) {
        int count = c->count[bits];

        code |= (int)(s->bits >> (bits - 1) & 1);
        if (code - first < count) {
            drop(s, bits);
            return c->symbol[index + code - first];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

/* ---- blocks ---- */

static int stored_block(stream *s)
{
    uint32_t size, check;

    drop(s, s->held & 7);
    size = take(s, 16);
    check = take(s, 16);
    if (overrun(s) || size != (check ^ 0xffff))
        return damaged("a stored block has no length");
    s->in -= (s->held - s->missing) / 8; /* gives the bytes back that are held */
    s->bits = 0;
    s->held = s->missing = 0;
    if ((size_t)(s->end - s->in) < size)
        return damaged("they end too early");
    if (need(s, size) != 0)
        return -1;
    if (size > 0)
        memcpy(s->out + s->made, s->in, size);
    s->in += size;
    s->made += size;
    return 0;
}

/* Repeats bytes from `distance` back. */
static int repeat(stream *s, size_t distance, size_t length)
{
    uint8_t *to;

    if (distance > s->made)
        return damaged("a distance is too large");
    if (need(s, length) != 0)
        return -1;
    to = s->out + s->made;
    s->made += length;
    if (distance >= length) {
        memcpy(to, to - distance, length);
        return 0;
    }
    for (; length > 0; length--, to++)
        *to = *(to - distance);
    return 0;
}

/* The bytes of a block with codes. */
static int coded_block(stream *s)
{
    static const uint16_t length_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_more[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

    while (true) {
        int symbol = decode(s, &s->literal), far;
        size_t length;

        if (overrun(s))
            return damaged("they end too early");
        if (symbol == END_OF_BLOCK)
            return 0;
        if (symbol < 0 || symbol > 285)
            return damaged("there is no such code");
        if (symbol < END_OF_BLOCK) {
            if (s->made == s->room && need(s, 1) != 0)
                return -1;
            s->out[s->made++] = (uint8_t)symbol;
            continue;
        }
        length = length_base[symbol - 257] + take(s, length_more[symbol - 257]);
        far = decode(s, &s->distance);
        if (far < 0 || far > 29)
            return damaged("there is no such distance");
        if (repeat(s, base[far] + take(s, far < 2 ? 0 : far / 2 - 1), length) != 0)
            return -1;
    }
}

static int fixed_codes(stream *s)
{
    uint8_t length[LITERALS];

    memset(length, 8, 144);
    memset(length + 144, 9, 112);
    memset(length + 256, 7, 24);
    memset(length + 280, 8, 8);
    if (make_codes(&s->literal, length, LITERALS) != 0)
        return -1;
    memset(length, 5, 30);
    return make_codes(&s->distance, length, 30);
}

/* The codes of a block, whose lengths are themselves coded. */
static int own_codes(stream *s)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LITERALS + DISTANCES] = {0};
    int literals = (int)take(s, 5) + 257, distances = (int)take(s, 5) + 1;
    int given = (int)take(s, 4) + 4;

    if (literals > 286 || distances > 30)
        return damaged("there are too many codes");
    for (int i = 0; i < given; i++)
        length[order[i]] = (uint8_t)take(s, 3);
    if (make_codes(&s->literal, length, 19) != 0)
        return -1;
    memset(length, 0, 19);
    for (int i = 0; i < literals + distances;) {
        int symbol = decode(s, &s->literal), times = 1;
        uint8_t value = (uint8_t)symbol;

        if (symbol < 0 || overrun(s))
            return damaged("there is no such length of a code");
        if (symbol == 16 && i == 0)
            return damaged("the first length of a code repeats one");
        if (symbol >= 16) {
            value = symbol == 16 ? length[i - 1] : 0;
            times = symbol == 16   ? 3 + (int)take(s, 2)
                    : symbol == 17 ? 3 + (int)take(s, 3)
                                   : 11 + (int)take(s, 7);
        }
        if (i + times > literals + distances)
            return damaged("there are too many lengths of codes");
        memset(length + i, value, (size_t)times);
        i += times;
    }
    if (length[END_OF_BLOCK] == 0)
        return damaged("a block has no end");
    if (make_codes(&s->literal, length, literals) != 0)
        return -1;
    return make_codes(&s->distance, length + literals, distances);
}

static int inflate(stream *s)
{
    uint32_t last;

    do {
        uint32_t kind;
        int status;

        last = take(s, 1);
        kind = take(s, 2);
        if (overrun(s))
            return damaged("they end too early");
        if (kind == 3)
            return damaged("there is no such kind of block");
        if (kind == 0)
            status = stored_block(s);
        else if (kind == 1)
            status = fixed_codes(s) == 0 ? coded_block(s) : -1;
        else
            status = own_codes(s) == 0 ? coded_block(s) : -1;
        if (status != 0)
            return -1;
    } while (last == 0);
    return 0;
}

/* Four bytes behind the blocks, the first lowest (`swapped`: highest). */
static uint32_t trailer(stream *s, bool swapped)
{
    uint32_t low, high;

    drop(s, s->held & 7);
    low = take(s, 16);
    high = take(s, 16);
    if (!swapped)
        return high << 16 | low;
    return (low & 255) << 24 | (low >> 8) << 16 | (high & 255) << 8 | high >> 8;
}

/* ---- checks ---- */

static uint32_t crc_table[256];

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;

        for (int k = 0; k < 8; k++)
            c = (c & 1) != 0 ? 0xedb88320 ^ c >> 1 : c >> 1;
        crc_table[i] = c;
    }
}

uint32_t mxl_crc32(uint32_t crc, const uint8_t *bytes, size_t size)
{
    static mxl_once_flag once = MXL_ONCE_INIT;

    mxl_once(&once, make_table);
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = crc_table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static uint32_t adler32(const uint8_t *bytes, size_t size)
{
    uint32_t a = 1, b = 0;

    while (size > 0) {
        size_t n = size < 5552 ? size : 5552; /* sums of so many do not overflow */

        size -= n;
        for (; n > 0; n--) {
            a += *bytes++;
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    return b << 16 | a;
}

/* ---- formats ---- */

int mxl_inflate_zlib(const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
    stream s = {.in = data, .end = data + size, .out = out, .room = room};

    if (size < 2 || (data[0] & 15) != 8 || (data[0] << 8 | data[1]) % 31 != 0 ||
        (data[1] & 32) != 0)
        return damaged("they do not begin as zlib's");
    s.in += 2;
    if (inflate(&s) != 0)
        return -1;
    if (s.made != room)
        return damaged("they have fewer bytes than they should have");
    if (trailer(&s, true) != adler32(out, room) || overrun(&s))
        return damaged("the check sum differs");
    return 0;
}

/* Moves behind the head of a gzip file. */
static int gzip_head(stream *s)
{
    const uint8_t *p = s->in;
    size_t left = (size_t)(s->end - p), at = 10;

    if (left < at || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || (p[3] & 0xe0) != 0)
        return damaged("they do not begin as gzip's");
    if ((p[3] & 4) != 0)
        at += left >= 12 ? 2u + p[10] + 256u * p[11] : left + 1;
    for (int text = 8; text <= 16; text *= 2) { /* a name, a comment */
        if ((p[3] & text) == 0)
            continue;
        while (at < left && p[at] != 0)
            at++;
        at++;
    }
    at += (p[3] & 2) != 0 ? 2 : 0;
    if (at > left)
        return damaged("they end within gzip's head");
    s->in += at;
    return 0;
}

int mxl_inflate_gzip(const uint8_t *data, size_t bytes, char **out, size_t *size)
{
    stream s = {.in = data, .end = data + bytes, .grows = true};
    uint8_t *trimmed = NULL;
    uint32_t crc, length;

    if (gzip_head(&s) != 0 || inflate(&s) != 0)
        goto failed;
    crc = trailer(&s, false);
    length = trailer(&s, false);
    if (overrun(&s) || crc != mxl_crc32(0, s.out, s.made) || length != (uint32_t)s.made) {
        (void)damaged("the check sum differs");
        goto failed;
    }
    trimmed = mxl_realloc(s.out, s.room, s.made + 1);
    if (trimmed == NULL)
        goto failed;
    trimmed[s.made] = 0;
    *out = (char *)trimmed;
    *size = s.made;
    return 0;
failed:
    mxl_free(s.out, s.room);
    return -1;
}
