/* MXRandomSeed and MXRandomSeedContext: the seed of the process's generator. Called by bindings. */
#include "api/common.h"

#include "engine/run/generator.h"

int MXRandomSeed(int seed)
{
    mxl_random_seed((uint64_t)(int64_t)seed);
    return 0;
}

/* There is one device and so one generator. */
int MXRandomSeedContext(int seed, int dev_type, int dev_id)
{
    (void)dev_id;
    if (api_check_device(__func__, dev_type) != 0)
        return -1;
    return MXRandomSeed(seed);
}

int MXLRandomGetState(uint64_t state[2])
{
    API_NEED(state);
    mxl_random_get(state);
    return 0;
}

int MXLRandomSetState(const uint64_t state[2])
{
    API_NEED(state);
    mxl_random_set(state);
    return 0;
}
