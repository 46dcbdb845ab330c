package mxlite;

import java.lang.ref.Reference;
import java.util.function.Supplier;

/** Recording and gradients. Flags belong to the thread. */
public final class Autograd {
    private Autograd() {}

    /** The thread's flags as they were, which close() puts back: {@code try (Autograd.Scope s = Autograd.record()) {...}}. */
    public static final class Scope implements AutoCloseable {
        private final int[] recording = new int[1], training = new int[1];

        /** Records or not, in training mode or not. */
        public Scope(boolean record, boolean train) {
            C.check(C.MXAutogradSetIsRecording(record ? 1 : 0, recording));
            C.check(C.MXAutogradSetIsTraining(train ? 1 : 0, training));
        }

        @Override
        public void close() {
            C.check(C.MXAutogradSetIsRecording(recording[0], new int[1]));
            C.check(C.MXAutogradSetIsTraining(training[0], new int[1]));
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

    /** The same with gradients of the heads (null: ones), the graph kept for another time or not, in training mode or not. */
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
        long[] grads = new long[1];
        if (headGrads != null && headGrads.length != heads.length) {
            throw new IllegalArgumentException(
                    "backward: " + headGrads.length + " head gradients for " + heads.length + " heads");
        }
        int status = C.MXAutogradBackwardEx(
                heads.length, Call.handles(heads), headGrads == null ? null : Call.handles(headGrads), variables.length,
                Call.handles(variables), retain ? 1 : 0, create ? 1 : 0, train ? 1 : 0, grads, new long[1]);
        for (NDArray[] each : new NDArray[][] {heads, headGrads, variables}) {
            Reference.reachabilityFence(each);
        }
        C.check(status);
        return Call.adopt(grads[0], variables.length);
    }
}
