/* One row of a batch over one floating type; included by hawkes.c with T and NAME(x). */

/* The row's arrays: `of` holds the derivatives, one array of all rows apart. */
typedef struct NAME(row) {
    const T *mu, *alpha, *beta;
    T *s, *at, *of;
    int64_t apart;
} NAME(row);

/* Kind k from its last event to the time `now`: its share of the compensator is subtracted, and the
 * excitation decays. Returns the share. In `kept`'s order: mu, alpha, beta, state; and of the
 * excitation itself by beta and by the state. */
static T NAME(decay)(const NAME(row) *r, int64_t k, T now)
{
    T d = now - r->at[k], decay = (T)exp((double)(-r->beta[k] * d)), gone = 1 - decay;
    T *of = r->of + k, s = r->s[k], a = r->alpha[k];
    int64_t n = r->apart;

    of[0] -= d;
    of[n] -= s * gone;
    of[2 * n] -= a * (of[4 * n] * gone + s * d * decay);
    of[3 * n] -= a * of[5 * n] * gone;
    of[4 * n] = (of[4 * n] - s * d) * decay;
    of[5 * n] *= decay;
    r->s[k] = s * decay;
    r->at[k] = now;
    return r->mu[k] * d + a * s * gone;
}

/* An event of kind k: the logarithm of its intensity, and one more excitation. */
static T NAME(event)(const NAME(row) *r, int64_t k)
{
    T s = r->s[k], a = r->alpha[k], b = r->beta[k], intensity = r->mu[k] + a * b * s;
    T *of = r->of + k;
    int64_t n = r->apart;

    of[0] += 1 / intensity;
    of[n] += b * s / intensity;
    of[2 * n] += a * (s + b * of[4 * n]) / intensity;
    of[3 * n] += a * b * of[5 * n] / intensity;
    r->s[k] = 1 + s;
    return (T)log((double)intensity);
}

/* One item of a range is a row of the batch. */
static void NAME(rows)(void *data, int64_t begin, int64_t end)
{
    const mxl_hawkes *job = data;
    int64_t kinds = job->kinds;

    for (int64_t b = begin; b < end; b++) {
        NAME(row)
        r = {(const T *)job->mu + b * kinds,
             job->alpha,
             job->beta,
             (T *)job->last + b * kinds,
             (T *)job->room + b * kinds,
             (T *)job->kept + b * kinds,
             job->batch * kinds};
        T now = 0, sum = 0;

        for (int64_t k = 0; k < kinds; k++) {
            r.s[k] = ((const T *)job->state)[b * kinds + k];
            r.at[k] = 0;
            for (int i = 0; i < MXL_HAWKES_KEPT; i++)
                r.of[i * r.apart + k] = i == MXL_HAWKES_KEPT - 1;
        }
        for (int64_t j = 0; j < job->lengths[b]; j++) {
            int64_t k = job->marks[b * job->steps + j];

            now += ((const T *)job->lags)[b * job->steps + j];
            sum -= NAME(decay)(&r, k, now);
            sum += NAME(event)(&r, k);
        }
        for (int64_t k = 0; k < kinds; k++)
            sum -= NAME(decay)(&r, k, ((const T *)job->until)[b]);
        ((T *)job->likelihood)[b] = sum;
    }
}
