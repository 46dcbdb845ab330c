/* MXNet's functions that mxlite refuses: each answers -1 with an error that names it and says why.
 * tools/show_names.py writes the reasons to docs/compatibility.md. */
#include "api/refused.h"

#define SUBGRAPHS "mxlite has no back ends that take parts of a graph"
#define NO_GPU    "there is no GPU, as in a 1.9.1 that is built for CPUs"
#define OLD_RTC   "1.9.1 refuses it too: CUDA modules replaced it"
#define PACKED    "mxlite has no packed functions of TVM"

#define ORDER  "operators run in an order that follows from their inputs"
#define PASSES "NNVM's graphs and passes are not in mxlite; MXSymbol* are the graphs"

REFUSED(MXGenBackendSubgraph, SUBGRAPHS)
REFUSED(MXOptimizeForBackend, SUBGRAPHS)
REFUSED(MXBuildSubgraphByOpNames, SUBGRAPHS)
REFUSED(MXSetSubgraphPropertyOpNames, SUBGRAPHS)
REFUSED(MXSetSubgraphPropertyOpNamesV2, SUBGRAPHS)
REFUSED(MXRemoveSubgraphPropertyOpNames, SUBGRAPHS)
REFUSED(MXRemoveSubgraphPropertyOpNamesV2, SUBGRAPHS)

REFUSED(NNAddControlDeps, ORDER)
REFUSED(NNGraphCreate, PASSES)
REFUSED(NNGraphFree, PASSES)
REFUSED(NNGraphGetSymbol, PASSES)
REFUSED(NNGraphSetJSONAttr, PASSES)
REFUSED(NNGraphGetJSONAttr, PASSES)
REFUSED(NNGraphSetNodeEntryListAttr_, PASSES)
REFUSED(NNGraphApplyPasses, PASSES)

REFUSED(MXGetGPUMemoryInformation, NO_GPU)
REFUSED(MXGetGPUMemoryInformation64, NO_GPU)
REFUSED(MXRtcCudaModuleCreate, NO_GPU)
REFUSED(MXRtcCudaModuleFree, NO_GPU)
REFUSED(MXRtcCudaKernelCreate, NO_GPU)
REFUSED(MXRtcCudaKernelFree, NO_GPU)
REFUSED(MXRtcCudaKernelCall, NO_GPU)
REFUSED(MXRtcCreate, OLD_RTC)
REFUSED(MXRtcPush, OLD_RTC)
REFUSED(MXRtcFree, OLD_RTC)

REFUSED(MXTVMBridge, PACKED)
