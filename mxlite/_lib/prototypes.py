"""The one table of prototypes of the whole C API, in letters; _lib reads it, a test compares it with the headers.

`Name:arguments>result`, one letter per argument; no result means int. b bool, i int, I uint32_t, q int64_t,
Q uint64_t, z size_t, f float, d double, s const char *, P every other pointer (handles too), v void.
"""

TABLE = """
MXAggregateProfileStatsPrint:Pi MXAggregateProfileStatsPrintEx:Piiii MXAutogradBackward:IPPi
MXAutogradBackwardEx:IPPIPiiiPP MXAutogradComputeGradient:IP MXAutogradGetSymbol:PP MXAutogradIsRecording:P
MXAutogradIsTraining:P MXAutogradMarkVariables:IPPP MXAutogradSetIsRecording:iP MXAutogradSetIsTraining:iP
MXBuildSubgraphByOpNames:PsIPP MXCachedOpRegisterOpHook:PPb MXCreateCachedOp:PP MXCreateCachedOpEX:PiPPPb
MXCreateCachedOpEx:PiPPP MXCustomFunctionRecord:iPiPP MXCustomOpRegister:sP MXDataIterBeforeFirst:P
MXDataIterCreateIter:PIPPP MXDataIterFree:P MXDataIterGetData:PP MXDataIterGetIndex:PPP MXDataIterGetIterInfo:PPPPPPP
MXDataIterGetLabel:PP MXDataIterGetPadNum:PP MXDataIterNext:PP MXDumpProcessProfile:iiP MXDumpProfile:i
MXEnginePushAsync:PPPPPiPiPisb MXEnginePushAsyncND:PPPPPiPiPisb MXEnginePushSync:PPPPPiPiPis
MXEnginePushSyncND:PPPPPiPiPis MXEngineSetBulkSize:iP MXExecutorBackward:PIP MXExecutorBackwardEx:PIPi
MXExecutorBind:PiiIPPPIPP MXExecutorBindEX:PiiIPPPIPPPIPPP MXExecutorBindX:PiiIPPPIPPPIPP MXExecutorForward:Pi
MXExecutorFree:P MXExecutorGetOptimizedSymbol:PP MXExecutorOutputs:PPP MXExecutorPrint:PP
MXExecutorReshape:iiiiIPPPIPPPPPPPPPP MXExecutorReshapeEx:iiiiIPPPIPPPPPPPPPP MXExecutorSetMonitorCallback:PPP
MXExecutorSetMonitorCallbackEX:PPPb MXExecutorSimpleBind:PiiIPPPIPPIPPPIPPIPPIPPPPPPPPPPPPP
MXExecutorSimpleBindEx:PiiIPPPIPPIPPPIPPIPPIPPPPPPPPPPPPP MXExecutorSimpleBindEx64:PiiIPPPIPPIPPPIPPIPPIPPPPPPPPPPPPP
MXFreeCachedOp:P MXFuncDescribe:PPPPP MXFuncGetInfo:PPPPPPPP MXFuncInvoke:PPPP MXFuncInvokeEx:PPPPiPP
MXGenAtomicSymbolFromSymbol:PP MXGenBackendSubgraph:PsP MXGetEnv:sP MXGetFunction:sP MXGetGPUCount:P
MXGetGPUMemoryInformation:iPP MXGetGPUMemoryInformation64:iPP MXGetLastError:>s MXGetVersion:P
MXImperativeInvoke:PiPPPiPP MXImperativeInvokeEx:PiPPPiPPP MXInitPSEnv:IPP MXInvokeCachedOp:PiPPP
MXInvokeCachedOpEx:PiPPPP MXIsNumpyShape:P MXKVStoreBarrier:P MXKVStoreBroadcast:PIPIPPPi
MXKVStoreBroadcastEx:PIPIPPPi MXKVStoreCreate:sP MXKVStoreFree:P MXKVStoreGetGroupSize:PP MXKVStoreGetNumDeadNode:PiPi
MXKVStoreGetRank:PP MXKVStoreGetType:PP MXKVStoreInit:PIPP MXKVStoreInitEx:PIPP MXKVStoreIsSchedulerNode:P
MXKVStoreIsServerNode:P MXKVStoreIsWorkerNode:P MXKVStorePull:PIPPi MXKVStorePullEx:PIPPi
MXKVStorePullRowSparse:PIPPPi MXKVStorePullRowSparseEx:PIPPPi MXKVStorePullWithSparse:PIPPib
MXKVStorePullWithSparseEx:PIPPib MXKVStorePush:PIPPi MXKVStorePushEx:PIPPi MXKVStorePushPull:PIPIPPPi
MXKVStorePushPullEx:PIPIPPPi MXKVStoreRunServer:PPP MXKVStoreSendCommmandToServers:Pis
MXKVStoreSetBarrierBeforeExit:Pi MXKVStoreSetGradientCompression:PIPP MXKVStoreSetUpdater:PPP
MXKVStoreSetUpdaterEx:PPPP MXLCall:PiPP>P MXLCall1:PP>P MXLCall1Float:PPd>P MXLCall1Int:PPq>P MXLCall1List:PPqP>P
MXLBackward:iPPPPiPPP MXLBackwardQueue:PPP MXLBackwardState:P
MXLCall2:PPP>P MXLCallGetNumOutputs:PPP MXLCallInto:PiPPPP MXLCustomFunctionOutput:Pi>P MXLGetInfo:sP
MXLFunctionRecord:PiPiPPPPPP MXLNDArrayCheckEdit:P MXLNDArrayNoteReturned:P
MXLNDArrayAssume:PP MXLNDArrayBatch:PiiP MXLBatchLevels:iPP MXLNDArrayBatchOf:PPP MXLBatchLooped:P
MXLNDArrayVisitPayloads:PPP
MXLNDArrayGetStrides:PiPP MXLNDArrayIsContiguous:P MXLNDArrayGetAddress:PP MXLNDArrayGetMemory:PP>P MXLGetLiveBytes:P
MXLGetLiveHandles:P MXLGetPoolBytes:P MXLGetVersion:P
MXLHintBackend:ss MXLLibraryNames:iPP MXLNDArrayAt:Pq>P MXLNDArrayBumpVersion:P MXLNDArrayFromDLPackVersioned:P>P
MXLNDArrayFromMemory:PiPiPP>P MXLNDArrayProtect:P MXLNDArrayShare:PP
MXLNDArrayFromData:PiPi>P MXLNDArrayToDLPackVersioned:PP MXLNDArrayGetInfo:PiPP MXLNDArrayGetVersion:PP MXLSetBackend:ss
MXLHookFree:P MXLHookRemove:P MXLNDArrayAddAccumulatedHook:PPPPP MXLNDArrayAddHook:PPiPPP
MXLNDArrayGetEdge:PPP MXLNDArrayGetEdgeKind:P MXLNDArrayGetId:PP MXLNDArrayPin:PP MXLNDArrayPlace:PPiP
MXLNDArrayTurn:PPP
MXLNDArraySetGrad:PP MXLNDArraySetRequiresGrad:Pi MXLNodeAddHook:PPPPP MXLNodeAddPreHook:PPPPP
MXLNodeFree:P MXLNodeGetId:PP MXLNodeGetInfo:PiiiPP MXLNodeGetInput:PiPP MXLNodeGetName:PP MXLNodeGetNumInputs:PP
MXLNodeGetNumOutputs:PP MXLNodeGetNumSaved:PP MXLNodeGetOperator:PP MXLNodeGetPayload:PP MXLNodeGetSaved:PiPPPP
MXLNodeGetParams:PPPP MXLNodeGetSequence:PP MXLNodeGetSlots:PiP MXLNodeGetVariable:PP MXLNodeIsReleased:PP
MXLNodeSetPayload:PPP MXLNodePackSaved:Pi MXLThreadGetOrigin:P
MXLAnomalyTakeNode:P MXLNDArrayFindNonFinite:PiP MXLPopSavedHooks: MXLPushSavedHooks:PPPPP MXLRandomGetState:P
MXLRandomSetState:P MXLSetAnomaly:iP MXLSetRecordHook:PP
MXLNDArrayReshape:PiPi>P MXLNDArraySlice:Pqq>P MXLPrepare:siPPiPP MXLPrepareAs:isssiPPiPP
MXLReplaceBegin:siP MXLReplaceEnd:Pi MXLGetGradMode:P MXLSetGradMode:iP MXLSetDefaultDtype:iP
MXLSetMixedPrecision:iIPIPIPIPPP MXLSetInplace:iP
MXLSetInferenceMode:iP MXLNDArrayGetBase:PP MXLNDArrayIsInference:P
MXLSetAllocator:PPPi MXLSetPoolCap:qP MXLOpGetRefusal:sP MXLPythonEndCapsule:P>v MXLPythonRelease:P>v MXLSetPython:P
MXLSetNotice:P
MXLibInfoFeatures:PP
MXListAllOpNames:PP MXListDataIters:PP MXListFunctions:PP MXLoadLib:sI MXNDArrayAt:PIP MXNDArrayAt64:PqP
MXNDArrayCallDLPackDeleter:P MXNDArrayCreate:PIiiiP MXNDArrayCreateEx:PIiiiiP MXNDArrayCreateEx64:PiiiiiP
MXNDArrayCreateFromSharedMem:iiPIiP MXNDArrayCreateFromSharedMemEx:iiPiiP MXNDArrayCreateNone:P
MXNDArrayCreateSparseEx:iPIiiiiIPPPP MXNDArrayCreateSparseEx64:iPiiiiiIPPPP MXNDArrayDetach:PP MXNDArrayFree:P
MXNDArrayFromDLPack:PP MXNDArrayFromDLPackEx:PbP MXNDArrayGetAuxNDArray:PIP MXNDArrayGetAuxNDArray64:PqP
MXNDArrayGetAuxType:PIP MXNDArrayGetAuxType64:PqP MXNDArrayGetContext:PPP MXNDArrayGetDType:PP MXNDArrayGetData:PP
MXNDArrayGetDataNDArray:PP MXNDArrayGetGrad:PP MXNDArrayGetGradState:PP MXNDArrayGetShape:PPP MXNDArrayGetShapeEx:PPP
MXNDArrayGetShapeEx64:PPP MXNDArrayGetSharedMemHandle:PPP MXNDArrayGetStorageType:PP MXNDArrayLoad:sPPPP
MXNDArrayLoadFromBuffer:PzPPPP MXNDArrayLoadFromRawBytes:PzP MXNDArrayReshape:PiPP MXNDArrayReshape64:PiPbP
MXNDArraySave:sIPP MXNDArraySaveRawBytes:PPP MXNDArraySetGradState:Pi MXNDArraySlice:PIIP MXNDArraySlice64:PqqP
MXNDArraySyncCheckFormat:Pb MXNDArraySyncCopyFromCPU:PPz MXNDArraySyncCopyFromNDArray:PPi MXNDArraySyncCopyToCPU:PPz
MXNDArrayToDLPack:PP MXNDArrayWaitAll: MXNDArrayWaitToRead:P MXNDArrayWaitToWrite:P MXNDListCreate:siPP MXNDListFree:P
MXNDListGet:PIPPPP MXNetFuncCall:PPPiPP MXNetFuncFree:P MXNetFuncGetGlobal:sP MXNetFuncListGlobalNames:PP
MXNetObjectFree:P MXNotifyShutdown: MXOptimizeForBackend:PsiPIPIPIPPIPPPIPPIPPbPPPPPP MXPredCreate:sPiiiIPPPP
MXPredCreateEx:sPiiiIPPPIPPP MXPredCreateMultiThread:sPiiiIPPPiP MXPredCreatePartialOut:sPiiiIPPPIPP MXPredForward:P
MXPredFree:P MXPredGetOutput:PIPI MXPredGetOutputShape:PIPP MXPredGetOutputType:PIP MXPredPartialForward:PiP
MXPredReshape:IPPPPP MXPredSetInput:PsPI MXPredSetMonitorCallback:PPPb MXProcessProfilePause:iiP
MXProfileAdjustCounter:Pq MXProfileCreateCounter:PsP MXProfileCreateDomain:sP MXProfileCreateEvent:sP
MXProfileCreateFrame:PsP MXProfileCreateTask:PsP MXProfileDestroyHandle:P MXProfileDurationStart:P
MXProfileDurationStop:P MXProfilePause:i MXProfileSetCounter:PQ MXProfileSetMarker:Pss
MXQuantizeSymbol:PPPIPIPIPsbssPP MXRandomSeed:i MXRandomSeedContext:iii MXRecordIOReaderCreate:sP
MXRecordIOReaderFree:P MXRecordIOReaderReadRecord:PPP MXRecordIOReaderSeek:Pz MXRecordIOReaderTell:PP
MXRecordIOWriterCreate:sP MXRecordIOWriterFree:P MXRecordIOWriterTell:PP MXRecordIOWriterWriteRecord:Psz
MXReducePrecisionSymbol:PPIPIPPiIIIIIIPPPPPPPPP MXRemoveSubgraphPropertyOpNames:s MXRemoveSubgraphPropertyOpNamesV2:s
MXRtcCreate:PIIPPPPPP MXRtcCudaKernelCall:PiPIIIIIII MXRtcCudaKernelCreate:PsiPPPP MXRtcCudaKernelFree:P
MXRtcCudaModuleCreate:siPiPP MXRtcCudaModuleFree:P MXRtcFree:P MXRtcPush:PIIPPIIIIII
MXSetCalibTableToQuantizedSymbol:PIPPPP MXSetEnv:ss MXSetIsNumpyShape:iP MXSetNumOMPThreads:i
MXSetProcessProfilerConfig:iPPP MXSetProcessProfilerState:iiP MXSetProfilerConfig:iPP MXSetProfilerState:i
MXSetSubgraphPropertyOpNames:sIP MXSetSubgraphPropertyOpNamesV2:sIP MXShallowCopyNDArray:PP MXShallowCopySymbol:PP
MXStorageEmptyCache:ii MXSymbolCompose:PsIPP MXSymbolCopy:PP MXSymbolCreateAtomicSymbol:PIPPP
MXSymbolCreateFromFile:sP MXSymbolCreateFromJSON:sP MXSymbolCreateGroup:IPP MXSymbolCreateVariable:sP
MXSymbolCutSubgraph:PPP MXSymbolFree:P MXSymbolGetAtomicSymbolInfo:PPPPPPPPP MXSymbolGetAtomicSymbolName:PP
MXSymbolGetAttr:PsPP MXSymbolGetChildren:PP MXSymbolGetInputSymbols:PPP MXSymbolGetInternals:PP MXSymbolGetName:PPP
MXSymbolGetNumOutputs:PP MXSymbolGetOutput:PIP MXSymbolGrad:PIPP MXSymbolInferShape:PIPPPPPPPPPPPPP
MXSymbolInferShapeEx:PIPPPPPPPPPPPPP MXSymbolInferShapeEx64:PIPPPPPPPPPPPPP MXSymbolInferShapePartial:PIPPPPPPPPPPPPP
MXSymbolInferShapePartialEx:PIPPPPPPPPPPPPP MXSymbolInferShapePartialEx64:PIPPPPPPPPPPPPP
MXSymbolInferType:PIPPPPPPPPP MXSymbolInferTypePartial:PIPPPPPPPPP MXSymbolListArguments:PPP
MXSymbolListAtomicSymbolCreators:PP MXSymbolListAttr:PPP MXSymbolListAttrShallow:PPP MXSymbolListAuxiliaryStates:PPP
MXSymbolListOutputs:PPP MXSymbolPrint:PP MXSymbolRemoveAmpCast:PP MXSymbolSaveToFile:Ps MXSymbolSaveToJSON:PP
MXSymbolSetAttr:Pss MXTVMBridge:P NNAPISetLastError:s>v NNAddControlDeps:PP NNGetLastError:>s NNGetOpHandle:sP
NNGetOpInfo:PPPPPPPP NNGraphApplyPasses:PIPP NNGraphCreate:PP NNGraphFree:P NNGraphGetJSONAttr:PsPP
NNGraphGetSymbol:PP NNGraphSetJSONAttr:Pss NNGraphSetNodeEntryListAttr_:PsP NNListAllOpNames:PP NNListUniqueOps:PP
NNSymbolCompose:PsIPP NNSymbolCopy:PP NNSymbolCreateAtomicSymbol:PIPPP NNSymbolCreateGroup:IPP
NNSymbolCreateVariable:sP NNSymbolFree:P NNSymbolGetAttr:PsPP NNSymbolGetChildren:PP NNSymbolGetInternals:PP
NNSymbolGetNumOutputs:PP NNSymbolGetOutput:PIP NNSymbolListAttrs:PiPP NNSymbolListInputNames:PiPP
NNSymbolListInputVariables:PiPP NNSymbolListOutputNames:PPP NNSymbolPrint:PP NNSymbolSetAttrs:PIPP
"""

#: The hot functions that are called as they are, by their names in mxlite._lib.hot_cffi and mxlite._lib.hot_ctypes.
HOT = {
    "call1": "MXLCall1",
    "call2": "MXLCall2",
    "call1_float": "MXLCall1Float",
    "call1_int": "MXLCall1Int",
    "free_array": "MXNDArrayFree",
    "copy_out": "MXNDArraySyncCopyToCPU",
    "copy_in": "MXNDArraySyncCopyFromCPU",
    "set_fresh": "MXNDArraySetGradState",
    "set_grad": "MXLNDArraySetGrad",
    "set_requires_grad": "MXLNDArraySetRequiresGrad",
    "edge_kind": "MXLNDArrayGetEdgeKind",
    "contiguous": "MXLNDArrayIsContiguous",
}
