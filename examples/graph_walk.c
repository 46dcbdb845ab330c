/* Prints the graph of a value: each node with its operator, its saved tensors and its edges. Then a
 * hook halves the gradient of one leaf.
 *
 *     cc -std=c99 -Iinclude -o graph_walk examples/graph_walk.c -Lbuild -lmxlite -Wl,-rpath,build
 *     ./graph_walk
 */
#include <mxlite/mxlite.h>

#include <stdio.h>
#include <stdlib.h>

enum { FLOAT32 = 0, CPU = 1 };

static void need(int status)
{
    if (status == 0)
        return;
    fprintf(stderr, "graph_walk: %s\n", MXGetLastError());
    exit(1);
}

static NDArrayHandle need_array(NDArrayHandle array)
{
    need(array == NULL);
    return array;
}

/* A variable of shape (rows, columns), all elements `value`. */
static NDArrayHandle variable(int64_t rows, int64_t columns, float value)
{
    int64_t shape[2];
    float values[64];
    NDArrayHandle array;

    shape[0] = rows;
    shape[1] = columns;
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] = value;
    need(MXNDArrayCreateEx64(shape, 2, CPU, 0, 0, FLOAT32, &array));
    need(MXNDArraySyncCopyFromCPU(array, values, (size_t)(rows * columns)));
    need(MXLNDArraySetRequiresGrad(array, 1));
    return array;
}

static NDArrayHandle call2(const char *name, NDArrayHandle a, NDArrayHandle b)
{
    MXLCallHandle call;

    need(MXLPrepare(name, 0, NULL, NULL, 0, NULL, &call));
    return need_array(MXLCall2(call, a, b));
}

static NDArrayHandle call1(const char *name, NDArrayHandle a)
{
    MXLCallHandle call;

    need(MXLPrepare(name, 0, NULL, NULL, 0, NULL, &call));
    return need_array(MXLCall1(call, a));
}

/* ---- the walk ---- */

static void print_shape(MXLNodeHandle node)
{
    int64_t shape[8];
    int ndim = MXLNodeGetInfo(node, 1, 0, 8, shape, NULL);

    need(ndim < 0);
    for (int i = 0; i < ndim; i++)
        printf("%s%d", i == 0 ? " (" : ", ", (int)shape[i]);
    printf(ndim == 0 ? " ()" : ")");
}

static void print_saved(MXLNodeHandle node)
{
    int count, is_output, position;
    int64_t bytes;

    need(MXLNodeGetNumSaved(node, &count));
    for (int i = 0; i < count; i++) {
        need(MXLNodeGetSaved(node, i, NULL, &is_output, &position, &bytes));
        printf("%s %s %d: %d bytes", i == 0 ? ", keeps" : ",", is_output ? "output" : "input",
               position, (int)bytes);
    }
}

/* Prints a node and, indented, the nodes of its edges; a node that is reached twice is printed
 * twice. */
static void print_node(MXLNodeHandle node, int depth)
{
    const char *name, *op;
    int count, output;

    need(MXLNodeGetName(node, &name));
    printf("%*s%s", 2 * depth, "", name);
    print_shape(node);
    need(MXLNodeGetOperator(node, &op));
    if (op != NULL) {
        printf(" by %s", op);
        print_saved(node);
    }
    printf("\n");
    need(MXLNodeGetNumInputs(node, &count));
    for (int i = 0; i < count; i++) {
        MXLNodeHandle next;

        need(MXLNodeGetInput(node, i, &next, &output));
        if (next == NULL) {
            printf("%*sa constant\n", 2 * depth + 2, "");
            continue;
        }
        print_node(next, depth + 1);
        need(MXLNodeFree(next));
    }
}

/* ---- a hook ---- */

static int halve(void *payload, int count, const NDArrayHandle *grads, NDArrayHandle *results)
{
    const char *key = "scalar", *value = "0.5";
    MXLCallHandle half;

    (void)count;
    if (grads[0] == NULL)
        return 0;
    if (MXLPrepare("_mul_scalar", 1, &key, &value, 0, NULL, &half) == 0)
        results[0] = MXLCall1(half, grads[0]);
    MXNDArrayFree(grads[0]);
    ++*(int *)payload;
    return results[0] == NULL; /* not 0: backward ends with the library's message */
}

static void print_gradient(const char *name, NDArrayHandle array)
{
    NDArrayHandle grad;
    float values[64];

    need(MXNDArrayGetGrad(array, &grad));
    need(MXNDArraySyncCopyToCPU(grad, values, 4));
    printf("%s.grad begins with %g\n", name, (double)values[0]);
    need(MXNDArrayFree(grad));
}

int main(void)
{
    NDArrayHandle x = variable(2, 2, 1), w = variable(2, 2, 0.5f), product, sum, y;
    MXLNodeHandle node;
    MXLBackwardOptions options = {0, 0, 0, 0, 1, MXL_DIALECT_MXNET};
    int before, output, calls = 0;

    need(MXAutogradSetIsRecording(1, &before));
    product = call2("dot", x, w);
    sum = call2("broadcast_add", product, x);
    y = call1("tanh", sum);
    need(MXAutogradSetIsRecording(before, &before));

    need(MXLNDArrayGetEdge(y, &node, &output));
    print_node(node, 0);

    need(MXLNDArrayAddHook(w, halve, 0, &calls, NULL, NULL));
    need(MXLBackward(1, &node, &output, NULL, &options, 0, NULL, NULL, NULL));
    printf("the hook was called %d time%s\n", calls, calls == 1 ? "" : "s");
    print_gradient("x", x);
    print_gradient("w", w);

    need(MXLNodeFree(node));
    need(MXNDArrayFree(y));
    need(MXNDArrayFree(sum));
    need(MXNDArrayFree(product));
    need(MXNDArrayFree(w));
    need(MXNDArrayFree(x));
    return 0;
}
