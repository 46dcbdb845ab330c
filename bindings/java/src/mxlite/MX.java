package mxlite;

import static mxlite.CLibrary.C;
import static mxlite.CLibrary.check;

import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.LinkedHashMap;
import java.util.Map;

/** The rest of the library: random numbers, files, counts. */
public final class MX {
    private MX() {}

    /** Seeds the generator of random operators. */
    public static void seed(int number) {
        check(C.MXRandomSeed(number));
    }

    /** Arrays that are alive in the library, over all threads. */
    public static long liveHandles() {
        LongByReference out = new LongByReference();
        check(C.MXLGetLiveHandles(out));
        return out.getValue();
    }

    /** Writes named arrays to a .params file. */
    public static void save(String file, Map<String, NDArray> arrays) {
        NDArray[] all = arrays.values().toArray(new NDArray[0]);
        check(C.MXNDArraySave(file, all.length, Call.handles(all), arrays.keySet().toArray(new String[0])));
    }

    /** Reads such a file; arrays without names get their numbers "0", "1", ... */
    public static Map<String, NDArray> load(String file) {
        IntByReference count = new IntByReference(), names = new IntByReference();
        PointerByReference handles = new PointerByReference(), keys = new PointerByReference();
        check(C.MXNDArrayLoad(file, count, handles, names, keys));
        NDArray[] arrays = Call.adopt(handles.getValue(), count.getValue());
        String[] given = names.getValue() == 0 ? null : keys.getValue().getStringArray(0, names.getValue());
        Map<String, NDArray> result = new LinkedHashMap<>();
        for (int i = 0; i < arrays.length; i++) {
            result.put(given == null ? Integer.toString(i) : given[i], arrays[i]);
        }
        return result;
    }
}
