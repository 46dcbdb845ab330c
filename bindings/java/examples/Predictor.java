import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.StringArray;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Arrays;
import mxlite.MX;

/** A saved model, by the Predict API of MXNet 1.9.1. Its input has one shape; it is for one thread at a time. */
public final class Predictor implements AutoCloseable {
    private Pointer handle;

    /** From a symbol's JSON and the bytes of a .params file. Throws MXNetException with the library's message. */
    public Predictor(String json, byte[] params, String input, int... shape) {
        Memory bytes = new Memory(Math.max(1, params.length));
        bytes.write(0, params, 0, params.length);
        PointerByReference out = new PointerByReference();
        MX.call("MXPredCreate", json, bytes, params.length, 1, 0, 1, new StringArray(new String[] {input}),
                new int[] {0, shape.length}, shape, out);
        handle = out.getValue();
    }

    /** Gives an input its values. */
    public Predictor set(String input, float... values) {
        MX.call("MXPredSetInput", handle, input, values, values.length);
        return this;
    }

    public Predictor forward() {
        MX.call("MXPredForward", handle);
        return this;
    }

    public int[] shape(int output) {
        PointerByReference sizes = new PointerByReference();
        IntByReference ndim = new IntByReference();
        MX.call("MXPredGetOutputShape", handle, output, sizes, ndim);
        return ndim.getValue() == 0 ? new int[0] : sizes.getValue().getIntArray(0, ndim.getValue());
    }

    /** The values of an output. */
    public float[] output(int output) {
        float[] values = new float[Arrays.stream(shape(output)).reduce(1, (a, b) -> a * b)];
        MX.call("MXPredGetOutput", handle, output, values, values.length);
        return values;
    }

    @Override
    public void close() {
        Pointer open = handle;
        handle = null;
        MX.call("MXPredFree", open); // NULL is allowed
    }
}
