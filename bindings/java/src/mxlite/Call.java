package mxlite;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

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

    /** A value as the library reads it: (1,2,) for arrays, None for null, True and False. */
    private static String written(Object value) {
        if (value == null) {
            return "None";
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? "True" : "False";
        }
        if (!value.getClass().isArray()) {
            return value.toString();
        }
        StringBuilder text = new StringBuilder("(");
        for (int i = 0; i < Array.getLength(value); i++) {
            text.append(written(Array.get(value, i))).append(',');
        }
        return text.append(')').toString();
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
        long[] op = new long[1], made = new long[1];
        int[] count = new int[1];
        Pointer keys = C.texts(params.keySet().toArray(new String[0]));
        Pointer values = C.texts(params.values().toArray(new String[0]));
        Memory given = out == null ? null : new Memory(8L * Math.max(1, out.length));
        C.check(C.NNGetOpHandle(name, op));
        if (out != null) {
            given.write(0, handles(out), 0, out.length);
            made[0] = Pointer.nativeValue(given);
            count[0] = out.length;
        }
        C.check(C.MXImperativeInvokeEx(
                op[0], inputs.length, handles(inputs), count, made, params.size(), keys, values, new long[1]));
        Reference.reachabilityFence(this);
        Reference.reachabilityFence(given);
        return out != null ? out : adopt(made[0], count[0]);
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

    /** The arrays' handles: whoever passes them on keeps the arrays reachable. */
    static long[] handles(NDArray... arrays) {
        return Arrays.stream(arrays).mapToLong(each -> each == null ? 0 : each.handle()).toArray();
    }

    /** Arrays for handles that the library lent a list of. */
    static NDArray[] adopt(long pointer, int count) {
        return Arrays.stream(C.handles(pointer, count)).mapToObj(NDArray::new).toArray(NDArray[]::new);
    }
}
