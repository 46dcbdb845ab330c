package mxlite;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;

/**
 * An array of the library. Close it (try-with-resources), or leave it to the collector: either frees it, and only once.
 */
public final class NDArray implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Whether backward writes a variable's gradient, adds to it, or leaves it alone. */
    public enum Request { NULL, WRITE, ADD }

    /** Frees the handle; knows nothing of the NDArray, or that would never be collected. */
    private static final class Owner extends AtomicLong implements Runnable {
        private static final long serialVersionUID = 1;

        Owner(long handle) {
            super(handle);
        }

        @Override
        public void run() {
            C.MXNDArrayFree(getAndSet(0)); // 0 is allowed
        }
    }

    private final Owner owner;
    private final Cleaner.Cleanable cleanable;

    /** An array for a handle that the library has just returned (0: its error is thrown). */
    NDArray(long handle) {
        C.check(handle == 0 ? -1 : 0);
        owner = new Owner(handle);
        cleanable = CLEANER.register(this, owner);
    }

    /** The handle, for the C API; it stays this object's, which must be reachable until the call with it has returned. */
    public long handle() {
        long handle = owner.get();
        if (handle == 0) {
            throw new IllegalStateException("NDArray: it has been closed");
        }
        return handle;
    }

    /** Calls the library with the handle; the collector leaves the array alone until that is over. */
    private NDArray call(LongToIntFunction function) {
        int status = function.applyAsInt(handle());
        Reference.reachabilityFence(this);
        C.check(status);
        return this;
    }

    /** The same for a function that returns a new array's handle. */
    private NDArray made(LongUnaryOperator function) {
        long result = function.applyAsLong(handle());
        Reference.reachabilityFence(this);
        return new NDArray(result);
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    // ---- making arrays ----

    private static NDArray blank(DType dtype, int count, long[] shape) {
        long[] out = new long[1], extents = shape.length == 0 ? new long[] {count} : shape;
        C.check(C.MXNDArrayCreateEx64(extents, extents.length, 1, 0, 0, dtype.ordinal(), out));
        return new NDArray(out[0]).takes(count, dtype);
    }

    private NDArray takes(int count, DType wanted) {
        if (dtype() != wanted || size() != count) {
            throw new IllegalArgumentException(
                    "NDArray: " + count + " values of " + wanted + " for " + size() + " elements of " + dtype());
        }
        return this;
    }

    /** A float32 array of the values, in C order; without a shape it is a vector. */
    public static NDArray of(float[] values, long... shape) {
        return blank(DType.FLOAT32, values.length, shape).set(values);
    }

    /** The same of float64. */
    public static NDArray of(double[] values, long... shape) {
        return blank(DType.FLOAT64, values.length, shape).set(values);
    }

    /** The same of int32. */
    public static NDArray of(int[] values, long... shape) {
        NDArray array = blank(DType.INT32, values.length, shape);
        return array.call(handle -> C.MXNDArraySyncCopyFromCPU(handle, values, values.length));
    }

    /** Overwrites the values: as many as the array has, which is of float32. */
    public NDArray set(float... values) {
        takes(values.length, DType.FLOAT32);
        return call(handle -> C.MXNDArraySyncCopyFromCPU(handle, values, values.length));
    }

    /** The same of float64. */
    public NDArray set(double... values) {
        takes(values.length, DType.FLOAT64);
        return call(handle -> C.MXNDArraySyncCopyFromCPU(handle, values, values.length));
    }

    // ---- what it is ----

    /** The extents; empty for a scalar. */
    public long[] shape() {
        long[] extents = new long[32];
        int[] ndim = new int[1];
        call(handle -> (ndim[0] = C.MXLNDArrayGetInfo(handle, extents.length, extents, null)) < -1 ? -1 : 0);
        return Arrays.copyOf(extents, Math.max(ndim[0], 0));
    }

    public DType dtype() {
        int[] flag = new int[1];
        call(handle -> C.MXLNDArrayGetInfo(handle, 0, null, flag) < -1 ? -1 : 0);
        return DType.values()[flag[0]];
    }

    /** Number of elements. */
    public long size() {
        return Arrays.stream(shape()).reduce(1, (size, extent) -> size * extent);
    }

    /** Reads the values as another dtype; the function gets a handle of that. */
    private void read(DType dtype, LongToIntFunction function) {
        if (dtype() == dtype) {
            call(function);
            return;
        }
        try (NDArray other = astype(dtype)) {
            other.call(function);
        }
    }

    /** The values in C order, of whatever dtype, as doubles. */
    public double[] toDoubles() {
        double[] values = new double[Math.toIntExact(size())];
        read(DType.FLOAT64, handle -> C.MXNDArraySyncCopyToCPU(handle, values, values.length));
        return values;
    }

    /** The values in C order, as floats. */
    public float[] toFloats() {
        float[] values = new float[Math.toIntExact(size())];
        read(DType.FLOAT32, handle -> C.MXNDArraySyncCopyToCPU(handle, values, values.length));
        return values;
    }

    /** The one element. */
    public double item() {
        double[] values = toDoubles();
        if (values.length != 1) {
            throw new IllegalStateException("item: the array has " + values.length + " elements, not one");
        }
        return values[0];
    }

    // ---- views and copies ----

    /** Rows [begin, end) of the first axis, sharing memory. */
    public NDArray slice(long begin, long end) {
        return made(handle -> C.MXLNDArraySlice(handle, begin, end));
    }

    /** The same memory in another shape (-1 is inferred). */
    public NDArray reshape(long... shape) {
        return made(handle -> C.MXLNDArrayReshape(handle, shape.length, shape, 0));
    }

    public NDArray astype(DType dtype) {
        return new Call("Cast", this).with("dtype", dtype).get();
    }

    /** The same memory without a place in the graph. */
    public NDArray detach() {
        long[] out = new long[1];
        call(handle -> C.MXNDArrayDetach(handle, out));
        return new NDArray(out[0]);
    }

    // ---- arithmetic: calls that are prepared once, of two arrays and of an array and a number ----

    private static long[] prepared(String arrays, String scalar) {
        return new long[] {C.prepared(arrays), C.prepared(scalar, "scalar")};
    }

    private static final long[] ADD = prepared("broadcast_add", "_plus_scalar");
    private static final long[] SUB = prepared("broadcast_sub", "_minus_scalar");
    private static final long[] MUL = prepared("broadcast_mul", "_mul_scalar");
    private static final long[] DIV = prepared("broadcast_div", "_div_scalar");
    private static final long[] POW = prepared("broadcast_power", "_power_scalar");

    private NDArray with(long[] calls, NDArray other) {
        NDArray result = made(handle -> C.MXLCall2(calls[0], handle, other.handle()));
        Reference.reachabilityFence(other);
        return result;
    }

    private NDArray with(long[] calls, double scalar) {
        return made(handle -> C.MXLCall1Float(calls[1], handle, scalar));
    }

    public NDArray add(NDArray other) {
        return with(ADD, other);
    }

    public NDArray add(double scalar) {
        return with(ADD, scalar);
    }

    public NDArray sub(NDArray other) {
        return with(SUB, other);
    }

    public NDArray sub(double scalar) {
        return with(SUB, scalar);
    }

    public NDArray mul(NDArray other) {
        return with(MUL, other);
    }

    public NDArray mul(double scalar) {
        return with(MUL, scalar);
    }

    public NDArray div(NDArray other) {
        return with(DIV, other);
    }

    public NDArray div(double scalar) {
        return with(DIV, scalar);
    }

    public NDArray pow(NDArray other) {
        return with(POW, other);
    }

    public NDArray pow(double scalar) {
        return with(POW, scalar);
    }

    // ---- gradient ----

    /** Makes it a variable whose gradient is written. */
    public NDArray attachGrad() {
        return attachGrad(Request.WRITE);
    }

    /** Makes it a variable with a gradient of zeros. */
    public NDArray attachGrad(Request request) {
        int[] number = {request == Request.ADD ? 3 : request.ordinal()};
        try (NDArray alone = detach();
                NDArray zeros = new Call("zeros_like", alone).get()) {
            call(handle -> C.MXAutogradMarkVariables(1, new long[] {handle}, number, new long[] {zeros.handle()}));
        }
        return this;
    }

    /** The gradient (a new object, the same memory), or null. */
    public NDArray grad() {
        long[] out = new long[1];
        call(handle -> C.MXNDArrayGetGrad(handle, out));
        return out[0] == 0 ? null : new NDArray(out[0]);
    }

    /** Computes gradients into the variables this was recorded from. */
    public void backward() {
        Autograd.backward(this);
    }

    @Override
    public String toString() {
        return "NDArray " + dtype() + " " + Arrays.toString(shape()) + " " + Arrays.toString(toDoubles());
    }
}
