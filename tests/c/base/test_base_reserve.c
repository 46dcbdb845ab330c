/* Address space in place of blocks that are written later: exchanged, committed, freed, counted. */
#include "harness.h"

#include "base/memory/mem.h"

enum { BYTES = (5 << 20) + 100, SMALL = 1 << 20, MANY = 200 };

/* Only blocks of the heap are exchanged; it is not there under ASan. */
static bool reserves(void)
{
    return MXL_MEM_KEEPS;
}

TEST(a_block_goes_to_the_pool_and_comes_back)
{
    int64_t live = mxl_mem_live_bytes();
    char *block = mxl_alloc(BYTES), *reserved, *committed;

    REQUIRE(block != NULL);
    memset(block, 7, BYTES);
    mxl_mem_trim();
    reserved = mxl_mem_reserve(block, BYTES);
    if (!reserves()) {
        CHECK(reserved == NULL && block[BYTES - 1] == 7);
        mxl_free(block, BYTES);
        return;
    }
    REQUIRE(reserved != NULL);
    CHECK(reserved != block && (uintptr_t)reserved % 64 == 0);
    CHECK_INT(mxl_mem_live_bytes(), live);
    CHECK(mxl_mem_kept_bytes() >= BYTES);
    reserved[0] = reserved[BYTES - 1] = 1; /* it can be written to */
    committed = mxl_mem_commit(reserved, BYTES);
    CHECK(committed == block);
    mxl_free(committed, BYTES);
    CHECK_INT(mxl_mem_live_bytes(), live);
}

TEST(without_a_block_in_the_pool_it_is_a_new_one)
{
    int64_t live = mxl_mem_live_bytes();
    char *block = mxl_alloc(BYTES), *reserved, *committed;

    REQUIRE(block != NULL);
    reserved = mxl_mem_reserve(block, BYTES);
    if (reserved == NULL) {
        mxl_free(block, BYTES);
        return;
    }
    mxl_mem_trim();
    committed = mxl_mem_commit(reserved, BYTES);
    CHECK(committed != NULL);
    memset(committed, 3, BYTES);
    mxl_free(committed, BYTES);
    CHECK_INT(mxl_mem_live_bytes(), live);
}

TEST(small_blocks_stay)
{
    char *block = mxl_alloc(SMALL);

    REQUIRE(block != NULL);
    CHECK(mxl_mem_reserve(block, SMALL) == NULL);
    mxl_free(block, SMALL);
}

TEST(many_at_once)
{
    static char *reserved[MANY];
    int64_t live = mxl_mem_live_bytes();
    int count = 0;

    while (count < MANY) {
        char *block = mxl_alloc(BYTES);

        REQUIRE(block != NULL);
        reserved[count] = mxl_mem_reserve(block, BYTES);
        if (reserved[count] == NULL) {
            mxl_free(block, BYTES);
            break;
        }
        reserved[count++][0] = 1;
    }
    CHECK(!reserves() || count == MANY);
    CHECK(mxl_mem_kept_bytes() < 8 * (int64_t)BYTES); /* one block served them all */
    for (int i = 0; i < count; i++)
        mxl_mem_free_reserved(reserved[i], BYTES);
    CHECK_INT(mxl_mem_live_bytes(), live);
    mxl_mem_trim();
}

HARNESS_MAIN(ENTRY(a_block_goes_to_the_pool_and_comes_back),
             ENTRY(without_a_block_in_the_pool_it_is_a_new_one), ENTRY(small_blocks_stay),
             ENTRY(many_at_once))
