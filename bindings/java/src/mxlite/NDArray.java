package mxlite;

import static mxlite.CLibrary.C;
import static mxlite.CLibrary.check;

import com.sun.jna.Memory;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import java.lang.ref.Cleaner;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An array of the library. Close it (try-with-resources), or leave it to the collector: either frees it, and only once.
 */
public final class NDArray implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Whether backward writes a variable's gradient, adds to it, or leaves it alone. */
    public enum Request {
        NULL(0),
        WRITE(1),
        ADD(3);

        final int number;

        Request(int number) {
            this.number = number;
        }
    }

    /** Frees the handle; knows nothing of the NDArray, or that would never be collected. */
    private static final class Owner implements Runnable {
        final AtomicLong handle;

        Owner(long handle) {
            this.handle = new AtomicLong(handle);
        }

        @Override
        public void run() {
            long mine = handle.getAndSet(0);
            if (mine != 0) {
                C.MXNDArrayFree(mine);
            }
        }
    }

    private final Owner owner;
    private final Cleaner.Cleanable cleanable;

    /** An array for a handle that the library has just returned (0: its error is thrown). */
    NDArray(long handle) {
        if (handle == 0) {
            throw new MXNetException(C.MXGetLastError());
        }
        owner = new Owner(handle);
        cleanable = CLEANER.register(this, owner);
    }

    /** The handle, for the C API; it stays this object's. */
    public long handle() {
        long handle = owner.handle.get();
        if (handle == 0) {
            throw new IllegalStateException("NDArray: it has been closed");
        }
        return handle;
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    // ---- making arrays ----

    private static NDArray blank(DType dtype, long[] shape) {
        LongByReference out = new LongByReference();
        check(C.MXNDArrayCreateEx64(shape, shape.length, 1, 0, 0, dtype.ordinal(), out));
        return new NDArray(out.getValue());
    }

    /** A float32 array of the values, in C order; without a shape it is a vector. */
    public static NDArray of(float[] values, long... shape) {
        NDArray array = blank(DType.FLOAT32, shape.length == 0 ? new long[] {values.length} : shape);
        return array.set(values);
    }

    /** The same of float64. */
    public static NDArray of(double[] values, long... shape) {
        NDArray array = blank(DType.FLOAT64, shape.length == 0 ? new long[] {values.length} : shape);
        return array.set(values);
    }

    /** The same of int32. */
    public static NDArray of(int[] values, long... shape) {
        NDArray array = blank(DType.INT32, shape.length == 0 ? new long[] {values.length} : shape);
        Memory memory = array.memory(values.length, DType.INT32);
        memory.write(0, values, 0, values.length);
        check(C.MXNDArraySyncCopyFromCPU(array.handle(), memory, values.length));
        return array;
    }

    private Memory memory(int count, DType wanted) {
        if (dtype() != wanted || size() != count) {
            throw new IllegalArgumentException(
                    "NDArray: " + count + " values of " + wanted + " for " + size() + " elements of " + dtype());
        }
        return new Memory(Math.max(1L, (long) count * wanted.bytes));
    }

    /** Overwrites the values: as many as the array has, which is of float32. */
    public NDArray set(float... values) {
        Memory memory = memory(values.length, DType.FLOAT32);
        memory.write(0, values, 0, values.length);
        check(C.MXNDArraySyncCopyFromCPU(handle(), memory, values.length));
        return this;
    }

    /** The same of float64. */
    public NDArray set(double... values) {
        Memory memory = memory(values.length, DType.FLOAT64);
        memory.write(0, values, 0, values.length);
        check(C.MXNDArraySyncCopyFromCPU(handle(), memory, values.length));
        return this;
    }

    // ---- what it is ----

    /** The extents; empty for a scalar. */
    public long[] shape() {
        long[] extents = new long[32];
        int ndim = C.MXLNDArrayGetInfo(handle(), extents.length, extents, null);
        if (ndim < -1) {
            throw new MXNetException(C.MXGetLastError());
        }
        return Arrays.copyOf(extents, Math.max(ndim, 0));
    }

    public DType dtype() {
        IntByReference flag = new IntByReference();
        if (C.MXLNDArrayGetInfo(handle(), 0, null, flag) < -1) {
            throw new MXNetException(C.MXGetLastError());
        }
        return DType.values()[flag.getValue()];
    }

    /** Number of elements. */
    public long size() {
        return Arrays.stream(shape()).reduce(1, (size, extent) -> size * extent);
    }

    private Memory read(int count, DType dtype) {
        Memory memory = new Memory(Math.max(1L, (long) count * dtype.bytes));
        check(C.MXNDArraySyncCopyToCPU(handle(), memory, count));
        return memory;
    }

    /** The values in C order, of whatever dtype, as doubles. */
    public double[] toDoubles() {
        if (dtype() != DType.FLOAT64) {
            try (NDArray wide = astype(DType.FLOAT64)) {
                return wide.toDoubles();
            }
        }
        int count = Math.toIntExact(size());
        return read(count, DType.FLOAT64).getDoubleArray(0, count);
    }

    /** The values in C order, as floats. */
    public float[] toFloats() {
        if (dtype() != DType.FLOAT32) {
            try (NDArray other = astype(DType.FLOAT32)) {
                return other.toFloats();
            }
        }
        int count = Math.toIntExact(size());
        return read(count, DType.FLOAT32).getFloatArray(0, count);
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
        return new NDArray(C.MXLNDArraySlice(handle(), begin, end));
    }

    /** The same memory in another shape (-1 is inferred). */
    public NDArray reshape(long... shape) {
        return new NDArray(C.MXLNDArrayReshape(handle(), shape.length, shape, 0));
    }

    public NDArray astype(DType dtype) {
        return new Call("Cast", this).with("dtype", dtype).get();
    }

    /** The same memory without a place in the graph. */
    public NDArray detach() {
        LongByReference out = new LongByReference();
        check(C.MXNDArrayDetach(handle(), out));
        return new NDArray(out.getValue());
    }

    // ---- arithmetic ----

    private NDArray with(String name, NDArray other) {
        return new Call(name, this, other).get();
    }

    private NDArray with(String name, double scalar) {
        return new Call(name, this).with("scalar", scalar).get();
    }

    public NDArray add(NDArray other) {
        return with("broadcast_add", other);
    }

    public NDArray add(double scalar) {
        return with("_plus_scalar", scalar);
    }

    public NDArray sub(NDArray other) {
        return with("broadcast_sub", other);
    }

    public NDArray sub(double scalar) {
        return with("_minus_scalar", scalar);
    }

    public NDArray mul(NDArray other) {
        return with("broadcast_mul", other);
    }

    public NDArray mul(double scalar) {
        return with("_mul_scalar", scalar);
    }

    public NDArray div(NDArray other) {
        return with("broadcast_div", other);
    }

    public NDArray div(double scalar) {
        return with("_div_scalar", scalar);
    }

    public NDArray pow(double scalar) {
        return with("_power_scalar", scalar);
    }

    // ---- gradient ----

    /** Makes it a variable whose gradient is written. */
    public NDArray attachGrad() {
        return attachGrad(Request.WRITE);
    }

    /** Makes it a variable with a gradient of zeros. */
    public NDArray attachGrad(Request request) {
        try (NDArray alone = detach();
                NDArray zeros = new Call("zeros_like", alone).get()) {
            check(
                    C.MXAutogradMarkVariables(
                            1, new long[] {handle()}, new int[] {request.number}, new long[] {zeros.handle()}));
        }
        return this;
    }

    /** The gradient (a new object, the same memory), or null. */
    public NDArray grad() {
        LongByReference out = new LongByReference();
        check(C.MXNDArrayGetGrad(handle(), out));
        return out.getValue() == 0 ? null : new NDArray(out.getValue());
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
