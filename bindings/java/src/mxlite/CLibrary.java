package mxlite;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.File;

/** The functions of the C library that this package calls. Handles are integers, passed as such. */
interface CLibrary extends Library {
    CLibrary C = open();

    /** MXLITE_LIBRARY, the property mxlite.library, the build folder of a source tree, or the system's search path. */
    private static CLibrary open() {
        String named = System.getProperty("mxlite.library", System.getenv("MXLITE_LIBRARY"));
        String built = new File("build/libmxlite.so").getAbsolutePath();
        String file = named != null ? named : new File(built).exists() ? built : "mxlite";
        try {
            return Native.load(file, CLibrary.class);
        } catch (UnsatisfiedLinkError error) {
            throw new UnsatisfiedLinkError(
                    "mxlite: cannot open " + file + ": make lib builds it, MXLITE_LIBRARY names it (" + error.getMessage() + ")");
        }
    }

    /** Throws the library's message unless the status is 0. */
    static void check(int status) {
        if (status != 0) {
            throw new MXNetException(C.MXGetLastError());
        }
    }

    String MXGetLastError();

    int MXNDArrayCreateEx64(long[] shape, int ndim, int deviceType, int device, int delay, int dtype, LongByReference out);

    int MXNDArrayFree(long handle);

    int MXNDArraySyncCopyFromCPU(long handle, Pointer data, long size);

    int MXNDArraySyncCopyToCPU(long handle, Pointer data, long size);

    int MXLNDArrayGetInfo(long handle, int room, long[] shape, IntByReference dtype);

    long MXLNDArraySlice(long handle, long begin, long end);

    long MXLNDArrayReshape(long handle, int ndim, long[] shape, int reverse);

    int MXNDArrayDetach(long handle, LongByReference out);

    int MXNDArrayGetGrad(long handle, LongByReference out);

    int MXNDArraySave(String name, int count, long[] handles, String[] keys);

    int MXNDArrayLoad(
            String name, IntByReference count, PointerByReference handles, IntByReference names, PointerByReference keys);

    int MXSymbolListAtomicSymbolCreators(IntByReference count, PointerByReference creators);

    int MXSymbolGetAtomicSymbolInfo(
            long op,
            PointerByReference name,
            PointerByReference doc,
            IntByReference count,
            PointerByReference names,
            PointerByReference types,
            PointerByReference docs,
            PointerByReference variable,
            PointerByReference result);

    int NNGetOpHandle(String name, LongByReference op);

    int MXImperativeInvokeEx(
            long op,
            int inputs,
            long[] in,
            IntByReference outputs,
            PointerByReference out,
            int params,
            String[] keys,
            String[] values,
            PointerByReference stypes);

    int MXAutogradSetIsRecording(int flag, IntByReference before);

    int MXAutogradSetIsTraining(int flag, IntByReference before);

    int MXAutogradMarkVariables(int count, long[] variables, int[] requests, long[] gradients);

    int MXAutogradBackwardEx(
            int count,
            long[] heads,
            long[] headGrads,
            int variables,
            long[] wanted,
            int retain,
            int create,
            int train,
            PointerByReference grads,
            PointerByReference stypes);

    int MXRandomSeed(int seed);

    int MXLGetLiveHandles(LongByReference out);
}
