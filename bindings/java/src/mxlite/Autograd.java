package mxlite;

import static mxlite.CLibrary.C;
import static mxlite.CLibrary.check;

import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.function.Supplier;

/** Recording and gradients. Flags belong to the thread. */
public final class Autograd {
    private Autograd() {}

    /** The thread's flags as they were, which close() puts back: {@code try (Autograd.Scope s = Autograd.record()) {...}}. */
    public static final class Scope implements AutoCloseable {
        private final int recording = set(true, 0);
        private final int training = set(false, 0);

        private Scope(boolean record, boolean train) {
            set(true, record ? 1 : 0);
            set(false, train ? 1 : 0);
        }

        private static int set(boolean recording, int flag) {
            IntByReference before = new IntByReference();
            check(recording ? C.MXAutogradSetIsRecording(flag, before) : C.MXAutogradSetIsTraining(flag, before));
            return before.getValue();
        }

        @Override
        public void close() {
            set(true, recording);
            set(false, training);
        }
    }

    /** Records, in training mode, until it is closed. */
    public static Scope record() {
        return new Scope(true, true);
    }

    /** Does not record until it is closed. */
    public static Scope pause() {
        return new Scope(false, false);
    }

    /** Records or not, in training mode or not, until it is closed. */
    public static Scope scope(boolean record, boolean train) {
        return new Scope(record, train);
    }

    /** The result of a function whose operators are recorded. */
    public static <T> T record(Supplier<T> function) {
        try (Scope scope = record()) {
            return function.get();
        }
    }

    /** The result of a function whose operators are not recorded. */
    public static <T> T pause(Supplier<T> function) {
        try (Scope scope = pause()) {
            return function.get();
        }
    }

    /** Gradients of the heads into their variables. */
    public static void backward(NDArray... heads) {
        run(heads, null, new NDArray[0], false, false, true);
    }

    /** The same with gradients of the heads (null: ones), and the graph kept for another time or not. */
    public static void backward(NDArray[] heads, NDArray[] headGrads, boolean retainGraph) {
        backward(heads, headGrads, retainGraph, true);
    }

    /** The same in training mode or not. */
    public static void backward(NDArray[] heads, NDArray[] headGrads, boolean retainGraph, boolean train) {
        run(heads, headGrads, new NDArray[0], retainGraph, false, train);
    }

    /** The gradients of a head with respect to variables, as new arrays. */
    public static NDArray[] grad(NDArray head, NDArray... variables) {
        return run(new NDArray[] {head}, null, variables, false, false, true);
    }

    /** The same, recorded: the results can be differentiated again. */
    public static NDArray[] gradOfGrad(NDArray head, NDArray... variables) {
        try (Scope scope = record()) {
            return run(new NDArray[] {head}, null, variables, true, true, true);
        }
    }

    private static NDArray[] run(
            NDArray[] heads, NDArray[] headGrads, NDArray[] variables, boolean retain, boolean create, boolean train) {
        PointerByReference grads = new PointerByReference(), stypes = new PointerByReference();
        if (headGrads != null && headGrads.length != heads.length) {
            throw new IllegalArgumentException(
                    "backward: " + headGrads.length + " head gradients for " + heads.length + " heads");
        }
        check(
                C.MXAutogradBackwardEx(
                        heads.length,
                        Call.handles(heads),
                        headGrads == null ? null : Call.handles(headGrads),
                        variables.length,
                        variables.length == 0 ? null : Call.handles(variables),
                        retain ? 1 : 0,
                        create ? 1 : 0,
                        train ? 1 : 0,
                        grads,
                        stypes));
        return variables.length == 0 ? variables : Call.adopt(grads.getValue(), variables.length);
    }
}
