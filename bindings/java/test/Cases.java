import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import mxlite.Autograd;
import mxlite.Call;
import mxlite.DType;
import mxlite.MXNetException;
import mxlite.NDArray;

/** Every case of bindings/cases.json (format: bindings/README.md). */
final class Cases {
    private Cases() {}

    /** Runs them all through `Tests.run`. */
    @SuppressWarnings("unchecked")
    static void all(String file) throws IOException {
        Map<String, Object> whole = (Map<String, Object>) new Json(Files.newBufferedReader(Path.of(file))).value();
        List<Map<String, Object>> cases = (List<Map<String, Object>>) whole.get("cases");
        Tests.run("there are cases", () -> Tests.check(cases.size() > 100, "only " + cases.size()));
        for (Map<String, Object> each : cases) {
            Tests.run((String) each.get("id"), () -> one(each));
        }
    }

    private static double[] numbers(Object values) {
        return ((List<?>) values).stream().mapToDouble(Cases::number).toArray();
    }

    private static double number(Object value) {
        if (value instanceof Double) {
            return (Double) value;
        }
        return value.equals("nan") ? Double.NaN : value.equals("inf") ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
    }

    private static NDArray array(Object described) {
        Map<?, ?> map = (Map<?, ?>) described;
        long[] shape = Arrays.stream(numbers(map.get("shape"))).mapToLong(each -> (long) each).toArray();
        return NDArray.of(numbers(map.get("values")), shape).astype(dtype(map));
    }

    private static DType dtype(Map<?, ?> map) {
        return DType.valueOf(((String) map.get("dtype")).toUpperCase());
    }

    private static NDArray[] arrays(Object list) {
        return ((List<?>) list).stream().map(Cases::array).toArray(NDArray[]::new);
    }

    private static void compare(String what, NDArray got, Map<?, ?> wanted) {
        double[] values = got.toDoubles(), expected = numbers(wanted.get("values"));
        Tests.check(got.dtype() == dtype(wanted), what + ": dtype " + got.dtype());
        double[] shape = Arrays.stream(got.shape()).asDoubleStream().toArray();
        Tests.check(Arrays.equals(shape, numbers(wanted.get("shape"))), what + ": shape " + Arrays.toString(shape));
        double rtol = number(wanted.get("rtol")), atol = number(wanted.get("atol"));
        for (int i = 0; i < values.length; i++) {
            boolean same = Double.isFinite(expected[i])
                    ? Math.abs(values[i] - expected[i]) <= atol + rtol * Math.abs(expected[i])
                    : Double.compare(values[i], expected[i]) == 0;
            Tests.check(same, what + ": element " + i + " is " + values[i] + ", expected " + expected[i]);
        }
    }

    private static NDArray[] call(Map<String, Object> each, NDArray[] inputs) {
        Call call = new Call((String) each.get("op"), inputs);
        ((Map<?, ?>) each.get("params")).forEach((key, value) -> call.with((String) key, value));
        return call.all();
    }

    private static void one(Map<String, Object> each) {
        boolean train = number(each.get("train")) == 1;
        NDArray[] inputs = arrays(each.get("inputs"));
        if (each.containsKey("error")) {
            String message = Tests.raised(MXNetException.class, () -> call(each, inputs)).getMessage();
            Tests.check(message.equals(each.get("error")), "message: " + message);
            return;
        }
        List<?> outputs = (List<?>) each.get("outputs");
        List<?> gradients = (List<?>) each.getOrDefault("gradients", List.of());
        gradients.forEach(map -> input(inputs, map).attachGrad());
        NDArray[] got;
        try (Autograd.Scope scope = new Autograd.Scope(!gradients.isEmpty(), train)) {
            got = call(each, inputs);
        }
        Tests.check(got.length == outputs.size(), got.length + " outputs");
        for (int i = 0; i < got.length; i++) {
            compare("output " + i, got[i], (Map<?, ?>) outputs.get(i));
        }
        if (!gradients.isEmpty()) {
            Autograd.backward(got, arrays(each.get("heads")), false, train);
        }
        for (Object map : gradients) {
            compare("a gradient", input(inputs, map).grad(), (Map<?, ?>) map);
        }
    }

    private static NDArray input(NDArray[] inputs, Object gradient) {
        return inputs[(int) number(((Map<?, ?>) gradient).get("input"))];
    }
}
