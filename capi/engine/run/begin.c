/* The beginning of a call that is not plain, and its end: numbers of inputs and outputs, and room
 * for them. */
#include "engine/run/run.h"

#include "base/error.h"
#include "base/memory/mem.h"

int mxl_invoke_arity(const mxl_op *op, const void *params, int num_inputs, mxl_arity *arity)
{
    int listed = 0;

    arity->inputs = num_inputs;
    arity->outputs = 1;
    arity->visible = 1;
    if (op->arity != NULL) {
        if (op->arity(params, arity) != 0)
            return -1;
        listed = arity->inputs;
    } else {
        while (mxl_op_inputs(op)[listed].name != NULL)
            listed++;
        arity->inputs = listed;
    }
    if (num_inputs != listed)
        return mxl_error("%s: takes %d input%s, got %d", op->name, listed, listed == 1 ? "" : "s",
                         num_inputs);
    return 0;
}

static int check_inputs(const mxl_op *op, int count, mxl_array *const *inputs)
{
    for (int i = 0; i < count; i++) {
        if (inputs[i] == NULL || inputs[i]->storage == NULL)
            return mxl_error(
                "%s: input %d has no shape yet: it was created empty and never written", op->name,
                i);
    }
    return 0;
}

/* Sets the rooms, and their entries to NULL; -1 where there is no memory. */
static int make_room(mxl_run *r)
{
    size_t in = (size_t)r->call.num_inputs, out = (size_t)r->call.num_outputs;

    r->call.in = r->in_room;
    r->call.out = r->out_room;
    r->out_shape = r->shape_room;
    r->out_dtype = r->dtype_room;
    r->node = r->slices = NULL;
    r->views = 0;
    r->meta = false;
    r->edited_view = NULL;
    r->version = 0;
    if (in > IN_ROOM) {
        r->call.in = mxl_alloc(in * sizeof(*r->call.in));
        if (r->call.in == NULL)
            return -1;
    }
    if (out > OUT_ROOM) {
        char *block = mxl_alloc(out * (sizeof(mxl_shape) + sizeof(mxl_array *) + sizeof(int)));
        if (block == NULL) {
            if (in > IN_ROOM)
                mxl_free(r->call.in, in * sizeof(*r->call.in));
            return -1;
        }
        r->out_shape = (mxl_shape *)block;
        r->call.out = (mxl_array **)(r->out_shape + out);
        r->out_dtype = (int *)(r->call.out + out);
    }
    for (size_t i = 0; i < in; i++)
        r->call.in[i] = NULL;
    for (size_t i = 0; i < out; i++)
        r->call.out[i] = NULL;
    return 0;
}

int mxl_run_begin(mxl_run *r, int num_outputs)
{
    const mxl_op *op = r->call.op;

    if (mxl_invoke_arity(op, r->call.params, r->call.num_inputs, &r->arity) != 0 ||
        check_inputs(op, r->call.num_inputs, r->given_in) != 0)
        return -1;
    if (num_outputs > r->arity.visible && num_outputs <= r->arity.outputs)
        r->arity.visible = num_outputs; /* the caller asks for outputs that are usually hidden */
    if (num_outputs != r->arity.visible)
        return mxl_error("%s: has %d output%s, %d were given", op->name, r->arity.visible,
                         r->arity.visible == 1 ? "" : "s", num_outputs);
    r->call.num_outputs = r->arity.outputs;
    return make_room(r);
}

void mxl_run_end(mxl_run *r)
{
    size_t in = (size_t)r->call.num_inputs, out = (size_t)r->call.num_outputs;

    for (size_t i = 0; i < in; i++) {
        if (r->call.in[i] != r->given_in[i])
            mxl_array_release(r->call.in[i]);
    }
    for (size_t i = 0; i < out; i++) {
        if ((int)i >= r->arity.visible || r->call.out[i] != r->given_out[i])
            mxl_array_release(r->call.out[i]);
    }
    if (r->node != NULL)
        mxl_ref_release(&r->node->ref);
    if (r->slices != NULL)
        mxl_ref_release(&r->slices->ref);
    if (r->call.in != r->in_room)
        mxl_free(r->call.in, in * sizeof(*r->call.in));
    if (r->call.out != r->out_room)
        mxl_free(r->out_shape, out * (sizeof(mxl_shape) + sizeof(mxl_array *) + sizeof(int)));
}
