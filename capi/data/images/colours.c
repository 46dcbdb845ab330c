/* Changes of colours with the arithmetic of OpenCV, which MXNet 1.9.1 calls; see
 * data/images/changes.h. */
#include <string.h>

#include "data/images/changes.h"

/* Rounds to the nearest byte, ties to even: a sum of 2^23 and more has no bits behind the point. */
static inline uint8_t to_byte(float x)
{
    float sum = (x > 255 ? 255 : x > 0 ? x : 0) + 0x1p23f;
    uint32_t bits;

    memcpy(&bits, &sum, sizeof(bits));
    return (uint8_t)bits;
}

void mxl_change_scale(mxl_bitmap *image, float factor, float more)
{
    int64_t count = image->rows * image->columns * image->channels;

    for (int64_t i = 0; i < count; i++)
        image->bytes[i] = to_byte((float)image->bytes[i] * factor + more);
}

/* The gray of a pixel. 1.9.1 takes its weights of red and blue the wrong way round. */
static int gray_of(const uint8_t *p)
{
    return (1868 * p[0] + 9617 * p[1] + 4899 * p[2] + (1 << 13)) >> 14;
}

void mxl_change_contrast(mxl_bitmap *image, float factor)
{
    int64_t count = image->rows * image->columns, sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += gray_of(image->bytes + 3 * i);
    mxl_change_scale(image, factor, (1 - factor) * (float)((double)sum / (double)count));
}

void mxl_change_saturation(mxl_bitmap *image, float factor)
{
    uint8_t *p = image->bytes;

    for (int64_t i = image->rows * image->columns; i > 0; i--, p += 3) {
        float gray = (float)gray_of(p) * (1 - factor);

        for (int c = 0; c < 3; c++)
            p[c] = to_byte((float)p[c] * factor + gray);
    }
}

void mxl_change_add(mxl_bitmap *image, const float more[3])
{
    int64_t count = image->rows * image->columns * 3;

    for (int64_t i = 0; i < count; i++) {
        float sum = (float)image->bytes[i] + more[i % 3];

        image->bytes[i] = (uint8_t)(sum > 255 ? 255 : sum > 0 ? sum : 0);
    }
}

/* ---- hue, luminance, saturation ---- */

/* A pixel as bytes of hue (0 to 180), luminance and saturation. */
static void to_hls(const uint8_t *p, uint8_t hls[3])
{
    float r = (float)p[0] * (1 / 255.0f), g = (float)p[1] * (1 / 255.0f),
          b = (float)p[2] * (1 / 255.0f);
    float most = r > g ? r : g, least = r < g ? r : g, range;
    float luminance, hue = 0, saturation = 0;

    most = b > most ? b : most;
    least = b < least ? b : least;
    range = most - least;
    luminance = (most + least) * 0.5f;
    if (range > 1.1920929e-7f) {
        saturation = luminance < 0.5f ? range / (most + least) : range / (2 - (most + least));
        range = 60 / range;
        hue = most == r   ? (g - b) * range
              : most == g ? (b - r) * range + 120
                          : (r - g) * range + 240;
        if (hue < 0)
            hue += 360;
    }
    hls[0] = to_byte(hue * 0.5f);
    hls[1] = to_byte(luminance * 255);
    hls[2] = to_byte(saturation * 255);
}

static void from_hls(const uint8_t hls[3], uint8_t *p)
{
    static const int parts[6][3] = {{1, 3, 0}, {1, 0, 2}, {3, 0, 1},
                                    {0, 2, 1}, {0, 1, 3}, {2, 1, 0}}; /* of blue, green, red */
    float luminance = (float)hls[1] * (1 / 255.0f), saturation = (float)hls[2] * (1 / 255.0f);
    float hue = (float)hls[0] * (6 / 180.0f), top, low, part[4];
    int sector;

    if (hls[2] == 0) {
        p[0] = p[1] = p[2] = to_byte(luminance * 255);
        return;
    }
    top = luminance <= 0.5f ? luminance * (1 + saturation)
                            : luminance + saturation - luminance * saturation;
    low = 2 * luminance - top;
    if (hue >= 6)
        hue -= 6;
    sector = (int)hue;
    hue -= (float)sector;
    part[0] = top;
    part[1] = low;
    part[2] = low + (top - low) * (1 - hue);
    part[3] = low + (top - low) * hue;
    for (int c = 0; c < 3; c++)
        p[2 - c] = to_byte(part[parts[sector][c]] * 255);
}

void mxl_change_hls(mxl_bitmap *image, const int more[3])
{
    static const int most[] = {180, 255, 255};
    uint8_t *p = image->bytes, hls[3];

    for (int64_t i = image->rows * image->columns; i > 0; i--, p += 3) {
        to_hls(p, hls);
        for (int c = 0; c < 3; c++) {
            int sum = hls[c] + more[c];

            hls[c] = (uint8_t)(sum < 0 ? 0 : sum > most[c] ? most[c] : sum);
        }
        from_hls(hls, p);
    }
}
