/* What a library says of its parts: a whole one has all, the core (make test-parts) names those it
 * lacks. */
#include "harness.h"

#include "mxnet/c_api.h"
#include "mxnet/c_predict_api.h"

#ifdef MXL_WITHOUT_SYMBOLS
enum { SYMBOLS = 0 };
#else
enum { SYMBOLS = 1 };
#endif
#ifdef MXL_WITHOUT_NUMPY
enum { NUMPY = 0 };
#else
enum { NUMPY = 1 };
#endif

TEST(functions)
{
    SymbolHandle symbol = NULL;

    CHECK_INT(MXSymbolCreateVariable("x", &symbol), SYMBOLS ? 0 : -1);
    if (SYMBOLS)
        CHECK_INT(MXSymbolFree(symbol), 0);
    else
        CHECK_HAS(MXGetLastError(), "MXSymbolCreateVariable: refused: this build has no symbols");
}

TEST(operators)
{
    OpHandle op;

    CHECK_INT(NNGetOpHandle("tanh", &op), 0);
    CHECK_INT(NNGetOpHandle("_npi_add", &op), NUMPY ? 0 : -1);
    if (!NUMPY)
        CHECK_HAS(MXGetLastError(), "this build is without");
    CHECK_INT(NNGetOpHandle("_npi_ad", &op), -1);
    CHECK_HAS(MXGetLastError(), "_npi_ad is not registered");
}

HARNESS_MAIN(ENTRY(functions), ENTRY(operators))
