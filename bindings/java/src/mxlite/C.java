package mxlite;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.StringArray;
import java.io.File;
import java.util.Map;

/**
 * The functions of the C library that this package calls, mapped directly. Handles and pointers are longs; what a function gives
 * back through a pointer lands in an array of one.
 */
final class C {
    private C() {}

    static final NativeLibrary LIBRARY;

    static {
        // MXLITE_LIBRARY, the property mxlite.library, the build folder of a source tree, or the system's search path.
        String named = System.getProperty("mxlite.library", System.getenv("MXLITE_LIBRARY"));
        String built = new File("build", System.mapLibraryName("mxlite")).getAbsolutePath();
        String file = named != null ? named : new File(built).exists() ? built : "mxlite";
        try {
            LIBRARY = NativeLibrary.getInstance(file, Map.of(Library.OPTION_STRING_ENCODING, "UTF-8"));
            Native.register(C.class, LIBRARY);
        } catch (UnsatisfiedLinkError error) {
            throw new UnsatisfiedLinkError("mxlite: cannot open " + file + ": make lib builds it, MXLITE_LIBRARY names it ("
                    + error.getMessage() + ")");
        }
    }

    /** Throws the library's message unless the status is 0. */
    static void check(int status) {
        if (status != 0) {
            throw new MXNetException(MXGetLastError());
        }
    }

    /** Text for a `const char **`. */
    static Pointer texts(String... texts) {
        return new StringArray(texts, "UTF-8");
    }

    static String text(long pointer) {
        return new Pointer(pointer).getString(0, "UTF-8");
    }

    /** The texts that a `const char **` leads to. */
    static String[] texts(long pointer, int count) {
        return count == 0 ? new String[0] : new Pointer(pointer).getStringArray(0, count, "UTF-8");
    }

    /** Handles that a pointer leads to. */
    static long[] handles(long pointer, int count) {
        return count == 0 ? new long[0] : new Pointer(pointer).getLongArray(0, count);
    }

    /** A call of an operator whose parameters are read once; the arguments are named that come with each call. */
    static long prepared(String name, String... arguments) {
        long[] call = new long[1];
        check(MXLPrepare(name, 0, null, null, arguments.length, texts(arguments), call));
        return call[0];
    }

    // ---- the functions, in the header's order of parameters ----

    static native String MXGetLastError();
    static native int MXNDArrayCreateEx64(long[] shape, int ndim, int deviceType, int device, int delay, int dtype, long[] out);
    static native int MXNDArrayFree(long handle);
    static native int MXNDArraySyncCopyFromCPU(long handle, float[] data, long size);
    static native int MXNDArraySyncCopyFromCPU(long handle, double[] data, long size);
    static native int MXNDArraySyncCopyFromCPU(long handle, int[] data, long size);
    static native int MXNDArraySyncCopyToCPU(long handle, float[] data, long size);
    static native int MXNDArraySyncCopyToCPU(long handle, double[] data, long size);
    static native int MXLNDArrayGetInfo(long handle, int room, long[] shape, int[] dtype);
    static native long MXLNDArraySlice(long handle, long begin, long end);
    static native long MXLNDArrayReshape(long handle, int ndim, long[] shape, int reverse);
    static native int MXNDArrayDetach(long handle, long[] out);
    static native int MXNDArrayGetGrad(long handle, long[] out);
    static native int MXNDArraySave(String name, int count, long[] handles, Pointer keys);
    static native int MXNDArrayLoad(String name, int[] count, long[] handles, int[] names, long[] keys);
    static native int MXListAllOpNames(int[] count, long[] names);
    static native int MXSymbolGetAtomicSymbolInfo(long op, long[] name, long[] doc, int[] count, long[] names, long[] types,
            long[] docs, long[] variable, long[] result);
    static native int NNGetOpHandle(String name, long[] op);
    static native int MXImperativeInvokeEx(long op, int inputs, long[] in, int[] outputs, long[] out, int params, Pointer keys,
            Pointer values, long[] stypes);
    static native int MXLPrepare(String name, int constants, Pointer keys, Pointer values, int arguments, Pointer names,
            long[] call);
    static native long MXLCall2(long call, long a, long b);
    static native long MXLCall1Float(long call, long a, double value);
    static native int MXAutogradSetIsRecording(int flag, int[] before);
    static native int MXAutogradSetIsTraining(int flag, int[] before);
    static native int MXAutogradMarkVariables(int count, long[] variables, int[] requests, long[] gradients);
    static native int MXAutogradBackwardEx(int count, long[] heads, long[] headGrads, int variables, long[] wanted, int retain,
            int create, int train, long[] grads, long[] stypes);
    static native int MXRandomSeed(int seed);
    static native int MXLGetLiveHandles(long[] out);
}
