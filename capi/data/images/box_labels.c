/* Labels of images with boxes; see data/images/box_labels.h. */
#include "data/images/box_labels.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* A count that a label gives as a number; -1 if it is none. */
static int64_t count_of(float value)
{
    return value >= 0 && value <= 1 << 20 && value == floorf(value) ? (int64_t)value : -1;
}

/* Left, top, right and bottom of an object. */
static float *box_of(const mxl_box_labels *labels, int64_t number)
{
    return labels->values + labels->head + number * labels->width + 1;
}

/* Keeps an object as number `to`. */
static void keep(const mxl_box_labels *labels, int64_t number, int64_t to)
{
    memmove(box_of(labels, to) - 1, box_of(labels, number) - 1,
            (size_t)labels->width * sizeof(float));
}

int mxl_box_labels_read(float *values, int64_t count, mxl_box_labels *labels)
{
    int64_t objects;

    if (count < MXL_BOX_LEAST)
        return mxl_error("a label with boxes has %d numbers at least, got %lld", MXL_BOX_LEAST,
                         (long long)count);
    *labels = (mxl_box_labels){values, count_of(values[0]), count_of(values[1]), 0};
    if (labels->head < 2 || labels->width < 5 || count < labels->head ||
        (count - labels->head) % labels->width != 0)
        return mxl_error("a label of %lld numbers has no head of %g and objects of %g",
                         (long long)count, (double)values[0], (double)values[1]);
    objects = (count - labels->head) / labels->width;
    for (int64_t i = 0; i < objects; i++) {
        const float *box = box_of(labels, i);

        if (box[2] > box[0] && box[3] > box[1])
            keep(labels, i, labels->count++);
    }
    return 0;
}

void mxl_box_labels_mirror(mxl_box_labels *labels)
{
    for (int64_t i = 0; i < labels->count; i++) {
        float *box = box_of(labels, i), left = box[0];

        box[0] = 1 - box[2];
        box[2] = 1 - left;
    }
}

static void move(float *box, mxl_part part)
{
    for (int k = 0; k < 4; k += 2) {
        box[k] = (box[k] - part.left) / part.width;
        box[k + 1] = (box[k + 1] - part.top) / part.height;
    }
}

void mxl_box_labels_move(mxl_box_labels *labels, mxl_part part)
{
    for (int64_t i = 0; i < labels->count; i++)
        move(box_of(labels, i), part);
}

/* ---- parts ---- */

mxl_part mxl_part_draw(const mxl_part_rules *rules, double ratio, mxl_chances *by)
{
    double scale = mxl_chance_between(by, rules->scale[0], rules->scale[1]);
    double low = fmax(rules->ratio[0] / ratio, scale * scale);
    double high = fmin(rules->ratio[1] / ratio, 1 / (scale * scale));
    double root = sqrt(mxl_chance_between(by, low, high));
    double width = fmin(1, scale * root), height = fmin(1, scale / root);

    return (mxl_part){(float)mxl_chance_between(by, 0, 1 - width),
                      (float)mxl_chance_between(by, 0, 1 - height), (float)width, (float)height};
}

static double length_of(double begin, double end)
{
    return end > begin ? end - begin : 0;
}

/* The area that a box and a part have in common. */
static double common(const float *box, mxl_part part)
{
    double right = (double)part.left + (double)part.width;
    double bottom = (double)part.top + (double)part.height;

    return length_of(fmax((double)box[0], (double)part.left), fmin((double)box[2], right)) *
           length_of(fmax((double)box[1], (double)part.top), fmin((double)box[3], bottom));
}

static double area_of(const float *box)
{
    return length_of((double)box[0], (double)box[2]) * length_of((double)box[1], (double)box[3]);
}

/* Bounds of 0 and 1 allow anything. */
static bool within(double part, double whole, const double bounds[2])
{
    double value = whole > 0 ? part / whole : 0;

    return (bounds[0] <= 0 && bounds[1] >= 1) || (value >= bounds[0] && value <= bounds[1]);
}

/* Whether a part is as the rules want it, for one object at least. */
static bool allowed(const mxl_box_labels *labels, const mxl_part_rules *rules, mxl_part part)
{
    double own = (double)part.width * (double)part.height;

    for (int64_t i = 0; i < labels->count; i++) {
        const float *box = box_of(labels, i);
        double area = area_of(box), both = common(box, part);

        if (within(both, area + own - both, rules->overlap) &&
            within(both, own, rules->sample_cover) && within(both, area, rules->object_cover))
            return true;
    }
    return false;
}

static bool keeps(const mxl_part_rules *rules, const float *box, mxl_part part)
{
    float x = (box[0] + box[2]) * 0.5f, y = (box[1] + box[3]) * 0.5f;

    if (rules->by_center)
        return x >= part.left && x <= part.left + part.width && y >= part.top &&
               y <= part.top + part.height;
    return common(box, part) > rules->threshold * area_of(box);
}

bool mxl_box_labels_cut(mxl_box_labels *labels, const mxl_part_rules *rules, mxl_part part)
{
    int64_t kept = 0;
    bool any = labels->count == 0;

    for (int64_t i = 0; i < labels->count; i++)
        any = any || keeps(rules, box_of(labels, i), part);
    if (!any || (labels->count > 0 && !allowed(labels, rules, part)))
        return false;
    for (int64_t i = 0; i < labels->count; i++) {
        float *box = box_of(labels, i);

        if (!keeps(rules, box, part))
            continue;
        move(box, part);
        for (int k = 0; k < 4; k++)
            box[k] = fminf(1, fmaxf(0, box[k]));
        keep(labels, i, kept++);
    }
    labels->count = kept;
    return true;
}
