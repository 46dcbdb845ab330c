/* Steps that divide a running mean of the gradient by the root of one of its square: adam, adamw,
 * ftml. */
#include "kernel/optimizer/step_loop.h"

/* Sets m and v, the running means of the gradient g and of its square. */
#define MEANS(S)                                                                                   \
    const real beta1 = (float)k.beta1, beta2 = (float)k.beta2;                                     \
    const real m = beta1 * MXL_LOAD_##S(first[i]) + (1 - beta1) * g;                               \
    const real v = beta2 * MXL_LOAD_##S(second[i]) + (1 - beta2) * g * g;                          \
                                                                                                   \
    first[i] = MXL_STORE_##S(m);                                                                   \
    second[i] = MXL_STORE_##S(v);

/* Kingma and Ba, https://arxiv.org/abs/1412.6980, without bias correction, which callers put into
 * lr. */
#define ADAM(S)                                                                                    \
    g = (float)k.rescale_grad * g + wd * w;                                                        \
    g = MXL_WITHIN(g, limit);                                                                      \
    MEANS(S)                                                                                       \
    next = w - lr * m / (sqrt(v) + (float)k.epsilon);

MXL_STEP_RULE(adam, ADAM)

/* Loshchilov and Hutter, https://arxiv.org/abs/1711.05101: the decay is no part of the gradient. */
#define ADAMW(S)                                                                                   \
    g = s.rescale * g;                                                                             \
    g = MXL_WITHIN(g, limit);                                                                      \
    MEANS(S)                                                                                       \
    next = w - s.eta * (lr * m / (sqrt(v) + (float)k.epsilon) + wd * w);

MXL_STEP_BOTH(adamw, ADAMW)

/* Zheng and Kwok, Follow the Moving Leader in Deep Learning. The state is d, v, z. */
#define FTML(S)                                                                                    \
    const real beta1 = (float)k.beta1, beta2 = (float)k.beta2;                                     \
    const real bias1 = (real)s.bias1, bias2 = (real)s.bias2;                                       \
    real v, d, z;                                                                                  \
                                                                                                   \
    g = (float)k.rescale_grad * g + wd * w;                                                        \
    g = MXL_WITHIN(g, limit);                                                                      \
    v = beta2 * MXL_LOAD_##S(second[i]) + (1 - beta2) * g * g;                                     \
    d = bias1 / lr * (sqrt(v / bias2) + (real)k.epsilon);                                          \
    z = beta1 * MXL_LOAD_##S(third[i]) + (1 - beta1) * g -                                         \
        (d - beta1 * MXL_LOAD_##S(first[i])) * w;                                                  \
    first[i] = MXL_STORE_##S(d);                                                                   \
    second[i] = MXL_STORE_##S(v);                                                                  \
    third[i] = MXL_STORE_##S(z);                                                                   \
    next = -z / d;

MXL_STEP_RULE(ftml, FTML)
