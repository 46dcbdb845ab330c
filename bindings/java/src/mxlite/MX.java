package mxlite;

import java.lang.ref.Reference;
import java.util.LinkedHashMap;
import java.util.Map;

/** The rest of the library: random numbers, files, counts. */
public final class MX {
    private MX() {}

    /** Calls a function of the C library that has no method here, with arguments as JNA takes them. */
    public static void call(String function, Object... arguments) {
        C.check(C.LIBRARY.getFunction(function).invokeInt(arguments));
    }

    /** Seeds the generator of random operators. */
    public static void seed(int number) {
        C.check(C.MXRandomSeed(number));
    }

    /** Arrays that are alive in the library, over all threads. */
    public static long liveHandles() {
        long[] out = new long[1];
        C.check(C.MXLGetLiveHandles(out));
        return out[0];
    }

    /** Writes named arrays to a .params file. */
    public static void save(String file, Map<String, NDArray> arrays) {
        NDArray[] all = arrays.values().toArray(new NDArray[0]);
        C.check(C.MXNDArraySave(file, all.length, Call.handles(all), C.texts(arrays.keySet().toArray(new String[0]))));
        Reference.reachabilityFence(all);
    }

    /** Reads such a file; arrays without names get their numbers "0", "1", ... */
    public static Map<String, NDArray> load(String file) {
        int[] count = new int[1], names = new int[1];
        long[] handles = new long[1], keys = new long[1];
        C.check(C.MXNDArrayLoad(file, count, handles, names, keys));
        NDArray[] arrays = Call.adopt(handles[0], count[0]);
        String[] given = C.texts(keys[0], names[0]);
        Map<String, NDArray> result = new LinkedHashMap<>();
        for (int i = 0; i < arrays.length; i++) {
            result.put(i < given.length ? given[i] : Integer.toString(i), arrays[i]);
        }
        return result;
    }
}
