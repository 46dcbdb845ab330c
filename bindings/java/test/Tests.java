import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import mxlite.Autograd;
import mxlite.Call;
import mxlite.DType;
import mxlite.MX;
import mxlite.MXNetException;
import mxlite.NDArray;
import mxlite.Ops;

/** What the binding adds to the library, and the cases that all bindings share: java Tests ../cases.json. */
public final class Tests {
    private static int passed;
    private static final List<String> FAILED = new ArrayList<>();

    /** A test, which may throw. */
    interface Body {
        void run() throws Exception;
    }

    private Tests() {}

    static void run(String name, Body body) {
        try {
            body.run();
            passed++;
        } catch (Throwable problem) {
            FAILED.add(name);
            System.out.println("FAIL " + name + ": " + problem);
        }
    }

    static void check(boolean held, String otherwise) {
        if (!held) {
            throw new AssertionError(otherwise);
        }
    }

    static void same(NDArray array, double... values) {
        check(Arrays.equals(array.toDoubles(), values), array + ", expected " + Arrays.toString(values));
    }

    /** What a call throws, which must be of that class. */
    static <T extends Throwable> T raised(Class<T> kind, Body body) {
        try {
            body.run();
        } catch (Throwable problem) {
            check(kind.isInstance(problem), "it threw " + problem);
            return kind.cast(problem);
        }
        throw new AssertionError("nothing was thrown, expected " + kind.getSimpleName());
    }

    private static NDArray vector(float... values) {
        return NDArray.of(values);
    }

    private static void arrays() {
        run("values and shape", () -> {
            NDArray x = NDArray.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
            check(Arrays.equals(x.shape(), new long[] {2, 3}) && x.dtype() == DType.FLOAT32 && x.size() == 6, "" + x);
            same(x, 1, 2, 3, 4, 5, 6);
        });
        run("float64", () -> same(NDArray.of(new double[] {0.1, -2}), 0.1, -2));
        run("int32", () -> same(NDArray.of(new int[] {Integer.MIN_VALUE, 7}), Integer.MIN_VALUE, 7));
        run("float16 through a cast", () -> {
            NDArray half = vector(0.5f, 1.25f).astype(DType.FLOAT16);
            check(half.dtype() == DType.FLOAT16, "" + half.dtype());
            same(half, 0.5, 1.25);
        });
        run("a wrong number of values", () -> raised(IllegalArgumentException.class, () -> NDArray.of(new float[3], 2)));
        run("item of several", () -> raised(IllegalStateException.class, () -> vector(1, 2).item()));
        run("item", () -> check(vector(3).item() == 3, "item"));
        run("set", () -> same(vector(1, 2).set(5f, 6f), 5, 6));
        run("arithmetic", () -> {
            NDArray x = vector(1, 2), y = vector(3, 4);
            same(x.add(y), 4, 6);
            same(x.add(1), 2, 3);
            same(x.sub(y), -2, -2);
            same(x.sub(1), 0, 1);
            same(x.mul(y).mul(2), 6, 16);
            same(y.div(x).div(2), 1.5, 1);
            same(y.pow(2), 9, 16);
        });
        run("views share memory", () -> {
            NDArray x = NDArray.of(new float[] {1, 2, 3, 4}, 2, 2);
            x.slice(1, 2).set(7f, 8f);
            same(x.reshape(4), 1, 2, 7, 8);
        });
        run("a view out of bounds", () -> raised(MXNetException.class, () -> vector(1).slice(0, 5)));
        run("an impossible shape", () -> raised(MXNetException.class, () -> vector(1, 2).reshape(3)));
        run("text", () -> check(vector(1).toString().equals("NDArray float32 [1] [1.0]"), "" + vector(1)));
    }

    private static void operators() {
        run("generated operators", () -> same(Ops.sum(NDArray.of(new float[] {1, 2, 3, 4}, 2, 2)).axis(1).get(), 3, 7));
        run("shapes as parameters", () -> same(Ops._full().shape(new int[] {2}).value(3).get(), 3, 3));
        run("booleans as parameters", () -> {
            NDArray x = NDArray.of(new float[] {1, 2}, 1, 2);
            same(Ops.dot(x, x).transpose_b(true).get(), 5);
        });
        run("any number of inputs", () -> same(Ops.Concat(vector(1), vector(2), vector(3)).dim(0).get(), 1, 2, 3));
        run("several outputs", () -> {
            NDArray[] parts = Ops.SliceChannel(NDArray.of(new float[] {1, 2}, 2, 1)).num_outputs(2).axis(0).all();
            check(parts.length == 2, parts.length + " parts");
            same(parts[1], 2);
        });
        run("get of several outputs", () -> raised(IllegalStateException.class, () ->
                Ops.SliceChannel(NDArray.of(new float[] {1, 2}, 2, 1)).num_outputs(2).axis(0).get()));
        run("by name, into an array", () -> {
            NDArray out = vector(0, 0);
            new Call("broadcast_add", vector(1, 2), vector(3, 4)).out(out).all();
            same(out, 4, 6);
        });
        run("the library's message", () -> {
            NDArray x = NDArray.of(new float[] {1, 2}, 1, 2);
            String message = raised(MXNetException.class, () -> Ops.dot(x, x).get()).getMessage();
            check(message.startsWith("dot: "), message);
            same(x, 1, 2);
        });
        run("an unknown operator", () -> raised(MXNetException.class, () -> new Call("nosuch").get()));
        run("an unknown parameter", () -> raised(MXNetException.class, () -> Ops.sum(vector(1)).with("axes", 1).get()));
        run("the same seed, the same numbers", () -> {
            MX.seed(7);
            double[] first = Ops._random_uniform().shape(new int[] {4}).get().toDoubles();
            MX.seed(7);
            same(Ops._random_uniform().shape(new int[] {4}).get(), first);
        });
    }

    private static void gradients() {
        run("a gradient", () -> {
            NDArray x = vector(1, 2, 3).attachGrad();
            Autograd.record(() -> x.mul(x)).backward();
            same(x.grad(), 2, 4, 6);
        });
        run("gradients that add up", () -> {
            NDArray x = vector(1).attachGrad(NDArray.Request.ADD);
            Autograd.record(() -> x.mul(3)).backward();
            Autograd.record(() -> x.mul(3)).backward();
            same(x.grad(), 6);
        });
        run("head gradients and kept graphs", () -> {
            NDArray x = vector(1, 2).attachGrad(), y = Autograd.record(() -> x.mul(x));
            Autograd.backward(new NDArray[] {y}, new NDArray[] {vector(1, 10)}, true, true);
            same(x.grad(), 2, 40);
            y.backward();
            check(raised(MXNetException.class, y::backward).getMessage().contains("released"), "the message");
        });
        run("second derivatives", () -> {
            NDArray x = vector(2).attachGrad();
            NDArray first = Autograd.gradOfGrad(Autograd.record(() -> x.pow(3)), x)[0];
            same(Autograd.grad(first, x)[0], 12);
        });
        run("no gradient", () -> check(vector(1).grad() == null, "there is one"));
        run("pause within record", () -> {
            NDArray x = vector(1).attachGrad();
            NDArray y = Autograd.record(() -> Autograd.pause(() -> x.mul(2)));
            raised(MXNetException.class, y::backward);
        });
        run("flags are put back by an exception", () -> {
            NDArray x = vector(1).attachGrad();
            raised(IllegalStateException.class, () -> Autograd.record(() -> {
                throw new IllegalStateException("mine");
            }));
            raised(MXNetException.class, () -> x.mul(2).backward());
        });
        run("detached", () -> {
            NDArray x = vector(3).attachGrad();
            Autograd.record(() -> x.mul(x.detach())).backward();
            same(x.grad(), 3);
        });
        run("threads have flags of their own", () -> {
            NDArray x = vector(3).attachGrad();
            boolean[] failed = new boolean[1];
            try (Autograd.Scope scope = Autograd.record()) {
                Thread thread = new Thread(() -> {
                    try {
                        x.mul(2).backward();
                    } catch (MXNetException expected) {
                        failed[0] = true;
                    }
                });
                thread.start();
                thread.join();
            }
            check(failed[0], "another thread recorded");
        });
        run("many threads", () -> {
            List<Thread> threads = new ArrayList<>();
            NDArray x = vector(1).attachGrad(NDArray.Request.ADD);
            for (int i = 0; i < 4; i++) {
                threads.add(new Thread(() -> {
                    for (int k = 0; k < 50; k++) {
                        try (NDArray y = Autograd.record(() -> x.mul(1))) {
                            y.backward();
                        }
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            same(x.grad(), 200);
        });
    }

    private static void lifetimes() {
        run("close frees, once", () -> {
            long before = MX.liveHandles();
            NDArray x = vector(1, 2);
            check(MX.liveHandles() == before + 1, "not one more");
            x.close();
            x.close();
            check(MX.liveHandles() == before, "not freed");
            raised(IllegalStateException.class, x::shape);
        });
        run("the collector frees", () -> {
            long before = MX.liveHandles();
            for (int i = 0; i < 2000; i++) {
                vector(i);
            }
            for (int i = 0; i < 100 && MX.liveHandles() > before + 100; i++) {
                System.gc();
                Thread.sleep(10);
            }
            check(MX.liveHandles() <= before + 100, MX.liveHandles() - before + " arrays are left of 2000");
        });
        run("a view outlives its array", () -> {
            NDArray x = NDArray.of(new float[] {1, 2}, 2, 1), row = x.slice(1, 2);
            x.close();
            same(row, 2);
        });
        run("files", () -> {
            Path file = Files.createTempFile("mxlite", ".params");
            MX.save(file.toString(), Map.of("weight", vector(1, 2)));
            Map<String, NDArray> read = MX.load(file.toString());
            same(read.get("weight"), 1, 2);
            Files.delete(file);
            raised(MXNetException.class, () -> MX.load(file.toString()));
        });
    }

    public static void main(String[] arguments) throws Exception {
        arrays();
        operators();
        gradients();
        lifetimes();
        Cases.all(arguments[0]);
        System.out.println("java: " + passed + " passed, " + FAILED.size() + " failed");
        System.exit(FAILED.isEmpty() ? 0 : 1);
    }
}
