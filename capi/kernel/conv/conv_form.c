/* Weights as the loops of convolutions read them. */
#include "kernel/conv/conv_form.h"

#include <string.h>

#include "base/memory/mem.h"

void mxl_conv_form_free(void *form)
{
    mxl_conv_form *f = form;

    if (f == NULL)
        return;
    mxl_free(f->data, f->bytes);
    mxl_free(f, sizeof(*f));
}

mxl_conv_form *mxl_conv_form_get(mxl_conv_form **slot, const mxl_conv_form_key *key, size_t bytes,
                                 bool *done)
{
    mxl_conv_form *form = slot != NULL ? *slot : NULL;

    *done = form != NULL && memcmp(&form->key, key, sizeof(*key)) == 0;
    if (*done)
        return form;
    form = mxl_alloc(sizeof(*form));
    if (form == NULL)
        return NULL;
    form->key = *key;
    form->bytes = bytes;
    form->data = mxl_alloc(bytes);
    if (form->data == NULL) {
        mxl_free(form, sizeof(*form));
        return NULL;
    }
    if (slot != NULL) {
        mxl_conv_form_free(*slot);
        *slot = form;
    }
    return form;
}
