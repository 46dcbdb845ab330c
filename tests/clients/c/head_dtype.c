/* A backward of an executor takes head gradients of any dtype, cast to the output's, and of its
 * shape alone. */
#include "client.h"

int main(void)
{
    const client_param three[] = {{"scalar", "3"}, {NULL, NULL}},
                       to_float[] = {{"dtype", "float32"}, {NULL, NULL}};
    const uint32_t shape[] = {2, 2};
    SymbolHandle x = variable("x"), net = symbol("_mul_scalar", "net", three, 1, &x);

    for (int dtype = 0; dtype < 3; dtype++) { /* float32, float64, float16 */
        NDArrayHandle arg = NULL, grad = NULL, head = filled(2, 2, 2, 1),
                      wrong = filled(1, 4, 2, 0), seen = none();
        uint32_t write = 1;
        ExecutorHandle executor = NULL;

        CALL(MXNDArrayCreateEx(shape, 2, 1, 0, 0, dtype, &arg));
        CALL(MXNDArrayCreateEx(shape, 2, 1, 0, 0, dtype, &grad));
        CALL(MXExecutorBind(net, 1, 0, 1, &arg, &grad, &write, 0, NULL, &executor));
        CALL(MXExecutorForward(executor, 1));
        CALL(MXExecutorBackward(executor, 1, &head));
        CALL(run_into("Cast", to_float, 1, &grad, 1, &seen));
        EXPECT(first(seen) == 6);
        REFUSED(MXExecutorBackward(executor, 1, &wrong), "(1,4)");
    }
    return failures != 0;
}
