/* Steps with a rate for each element: ftrl, rmsprop, adagrad. */
#include "kernel/optimizer/step_loop.h"

/* McMahan et al., Ad Click Prediction: a View from the Trenches. The state is z, n. A weight whose
 * z is within lamda1 becomes 0. */
#define FTRL(S)                                                                                    \
    const real lamda1 = (float)k.lamda1;                                                           \
    real n = MXL_LOAD_##S(second[i]), z = MXL_LOAD_##S(first[i]), root = sqrt(n);                  \
                                                                                                   \
    g = MXL_WITHIN((float)k.rescale_grad * g, limit);                                              \
    n += g * g;                                                                                    \
    z += g - (sqrt(n) - root) * w / lr;                                                            \
    root = sqrt(n);                                                                                \
    first[i] = MXL_STORE_##S(z);                                                                   \
    second[i] = MXL_STORE_##S(n);                                                                  \
    next = ((z > 0   ? lamda1                                                                      \
             : z < 0 ? -lamda1                                                                     \
                     : 0) -                                                                        \
            z) /                                                                                   \
           (((float)k.beta + root) / lr + wd) * (real)(fabs(z) > lamda1);

MXL_STEP_RULE(ftrl, FTRL)

/* Sets g to the gradient with its decay, and n to the running mean of its square. */
#define SQUARES(S)                                                                                 \
    const real gamma1 = (float)k.gamma1, bound = MXL_LIMIT(k.clip_weights);                        \
    real n;                                                                                        \
                                                                                                   \
    g = (float)k.rescale_grad * g + wd * w;                                                        \
    g = MXL_WITHIN(g, limit);                                                                      \
    n = (1 - gamma1) * (g * g) + gamma1 * MXL_LOAD_##S(first[i]);                                  \
    first[i] = MXL_STORE_##S(n);

/* Tieleman and Hinton's; epsilon is added below the root. */
#define RMSPROP(S)                                                                                 \
    SQUARES(S)                                                                                     \
    next = w - lr * (g / sqrt(n + (float)k.epsilon));                                              \
    next = MXL_WITHIN(next, bound);

MXL_STEP_RULE(rmsprop, RMSPROP)

/* Graves, https://arxiv.org/abs/1308.0850, equations 38 to 45. The state is n, g, delta. */
#define RMSPROPALEX(S)                                                                             \
    SQUARES(S)                                                                                     \
    const real mean = (1 - gamma1) * g + gamma1 * MXL_LOAD_##S(second[i]);                         \
    const real d = (float)k.gamma2 * MXL_LOAD_##S(third[i]) -                                      \
                   lr * (g / sqrt(n - mean * mean + (float)k.epsilon));                            \
                                                                                                   \
    second[i] = MXL_STORE_##S(mean);                                                               \
    third[i] = MXL_STORE_##S(d);                                                                   \
    next = w + d;                                                                                  \
    next = MXL_WITHIN(next, bound);

MXL_STEP_RULE(rmspropalex, RMSPROPALEX)

/* Duchi et al., http://jmlr.org/papers/v12/duchi11a.html */
#define ADAGRAD(S)                                                                                 \
    real sum;                                                                                      \
                                                                                                   \
    g = MXL_WITHIN((float)k.rescale_grad * g, limit);                                              \
    sum = MXL_LOAD_##S(first[i]) + g * g;                                                          \
    first[i] = MXL_STORE_##S(sum);                                                                 \
    next = w - lr * g / sqrt(sum + (float)k.epsilon);

MXL_STEP_RULE(adagrad, ADAGRAD)
