package mxlite;

import static mxlite.CLibrary.C;
import static mxlite.CLibrary.check;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One call of an operator: inputs, parameters by name, and then its results. The classes of {@code Ops} are calls whose parameters
 * are methods.
 */
public class Call {
    private final String name;
    private final NDArray[] inputs;
    private final Map<String, String> params = new LinkedHashMap<>();
    private NDArray[] out;

    public Call(String name, NDArray... inputs) {
        this.name = name;
        this.inputs = inputs;
    }

    /** A value as the library reads it: (1, 2) for arrays, None for null, True and False. */
    private static String written(Object value) {
        if (value == null) {
            return "None";
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? "True" : "False";
        }
        if (value instanceof int[]) {
            return written(Arrays.stream((int[]) value).boxed().toArray());
        }
        if (value instanceof long[]) {
            return written(Arrays.stream((long[]) value).boxed().toArray());
        }
        if (value instanceof Object[]) {
            Object[] list = (Object[]) value;
            String text = Arrays.stream(list).map(Call::written).collect(Collectors.joining(", "));
            return "(" + text + (list.length == 1 ? ",)" : ")");
        }
        return value.toString();
    }

    /** Sets a parameter: a number, a boolean, text, a shape as int[] or long[], or null for None. */
    public Call with(String parameter, Object value) {
        params.put(parameter, written(value));
        return this;
    }

    /** Arrays to write to, instead of new ones. */
    public Call out(NDArray... arrays) {
        out = arrays;
        return this;
    }

    /** Runs it; the results. */
    public NDArray[] all() {
        LongByReference op = new LongByReference();
        IntByReference count = new IntByReference(out == null ? 0 : out.length);
        PointerByReference made = new PointerByReference(), stypes = new PointerByReference();
        check(C.NNGetOpHandle(name, op));
        if (out != null) {
            Memory handles = new Memory(8L * Math.max(1, out.length));
            handles.write(0, handles(out), 0, out.length);
            made.setValue(handles);
        }
        check(
                C.MXImperativeInvokeEx(
                        op.getValue(),
                        inputs.length,
                        handles(inputs),
                        count,
                        made,
                        params.size(),
                        params.keySet().toArray(new String[0]),
                        params.values().toArray(new String[0]),
                        stypes));
        return out != null ? out : adopt(made.getValue(), count.getValue());
    }

    /** Runs it; the one result. */
    public NDArray get() {
        NDArray[] results = all();
        if (results.length == 1) {
            return results[0];
        }
        for (NDArray each : results) {
            each.close();
        }
        throw new IllegalStateException(name + ": has " + results.length + " results; take them with all()");
    }

    static long[] handles(NDArray... arrays) {
        return Arrays.stream(arrays).mapToLong(each -> each == null ? 0 : each.handle()).toArray();
    }

    /** Arrays for handles that the library lent a list of. */
    static NDArray[] adopt(Pointer handles, int count) {
        long[] numbers = count == 0 ? new long[0] : handles.getLongArray(0, count);
        return Arrays.stream(numbers).mapToObj(NDArray::new).toArray(NDArray[]::new);
    }
}
