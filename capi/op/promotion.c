/* Promotions that families of operators share. */
#include "op/promotion.h"

#include "array/copy.h"

const mxl_promotion mxl_promotes_numbers = {.as_is = MXL_SET_NUMBERS, .bool_as_byte = true};
const mxl_promotion mxl_promotes_floats = {.as_is = MXL_SET_FLOATS, .to_floats = true};
const mxl_promotion mxl_promotes_compared = {.to_bool = true, .bool_as_byte = true};

/* Whether an element of a contiguous array of integers is 0. */
static bool has_zero(const mxl_array *array)
{
    size_t size = mxl_dtype_size(array->dtype);
    const unsigned char *at = mxl_array_read(array);

    for (int64_t i = 0; i < array->size; i++, at += size) {
        bool zero = true;

        for (size_t k = 0; k < size; k++)
            zero = zero && at[k] == 0;
        if (zero)
            return true;
    }
    return false;
}

int mxl_check_divisor(const mxl_operands *operands)
{
    mxl_array *divisor;
    bool found;

    if (mxl_dtype_is_float(operands->dtype) || operands->in[0]->size == 0 ||
        mxl_array_is_meta(operands->in[1]))
        return 0;
    divisor = mxl_array_contiguous(operands->in[1]);
    if (divisor == NULL)
        return -1;
    found = has_zero(divisor);
    mxl_array_release(divisor);
    return found ? mxl_error("%s: integers are divided by 0", operands->op->name) : 0;
}
