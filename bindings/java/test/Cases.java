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
        Map<String, Object> whole = (Map<String, Object>) Json.read(Files.readString(Path.of(file)));
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
        double[] values = numbers(map.get("values"));
        long[] shape = Arrays.stream(numbers(map.get("shape"))).mapToLong(each -> (long) each).toArray();
        switch ((String) map.get("dtype")) {
            case "int32":
                return NDArray.of(Arrays.stream(values).mapToInt(each -> (int) each).toArray(), shape);
            case "float64":
                return NDArray.of(values, shape);
            default:
                float[] narrow = new float[values.length];
                for (int i = 0; i < narrow.length; i++) {
                    narrow[i] = (float) values[i];
                }
                return NDArray.of(narrow, shape);
        }
    }

    private static NDArray[] arrays(Object list) {
        return ((List<?>) list).stream().map(Cases::array).toArray(NDArray[]::new);
    }

    private static void compare(String what, NDArray got, Map<?, ?> wanted) {
        double[] values = got.toDoubles(), expected = numbers(wanted.get("values"));
        Tests.check(got.dtype() == DType.valueOf(((String) wanted.get("dtype")).toUpperCase()), what + ": dtype " + got.dtype());
        double[] shape = Arrays.stream(got.shape()).asDoubleStream().toArray();
        Tests.check(Arrays.equals(shape, numbers(wanted.get("shape"))), what + ": shape " + Arrays.toString(shape));
        double rtol = number(wanted.get("rtol")), atol = number(wanted.get("atol"));
        for (int i = 0; i < values.length; i++) {
            boolean same =
                    Double.isFinite(expected[i])
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
        NDArray[] got;
        try (Autograd.Scope scope = Autograd.scope(false, train)) {
            got = call(each, inputs);
        }
        Tests.check(got.length == outputs.size(), got.length + " outputs");
        for (int i = 0; i < got.length; i++) {
            compare("output " + i, got[i], (Map<?, ?>) outputs.get(i));
        }
        if (each.containsKey("gradients")) {
            gradients(each, inputs, train);
        }
    }

    private static void gradients(Map<String, Object> each, NDArray[] inputs, boolean train) {
        List<?> wanted = (List<?>) each.get("gradients");
        wanted.forEach(map -> inputs[(int) number(((Map<?, ?>) map).get("input"))].attachGrad());
        NDArray[] got;
        try (Autograd.Scope scope = Autograd.scope(true, train)) {
            got = call(each, inputs);
        }
        Autograd.backward(got, arrays(each.get("heads")), false, train);
        for (Object map : wanted) {
            int input = (int) number(((Map<?, ?>) map).get("input"));
            compare("gradient " + input, inputs[input].grad(), (Map<?, ?>) map);
        }
    }
}
