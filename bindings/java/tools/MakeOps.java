package mxlite;

import java.io.PrintWriter;
import java.util.Arrays;
import javax.lang.model.SourceVersion;

/** Writes Ops.java from the library's introspection: a method for each operator, whose parameters are methods of its call. */
public final class MakeOps {
    public static void main(String[] arguments) throws Exception {
        int[] count = new int[1];
        long[] names = new long[1];
        C.check(C.MXListAllOpNames(count, names));
        String[] all = C.texts(names[0], count[0]);
        Arrays.sort(all);
        try (PrintWriter file = new PrintWriter(arguments[0], "UTF-8")) {
            file.println("// Written by MakeOps from the library's operators; do not edit.");
            file.println("package mxlite;\n\n/** All operators: Ops.softmax(x).axis(1).get(). */\npublic final class Ops {");
            file.println("    private Ops() {}");
            for (String name : all) {
                file.print(source(name));
            }
            file.println("}");
        }
    }

    /** The name of an operator or parameter as Java writes it: with a _ at its end where it is a keyword. */
    private static String identifier(String name) {
        return SourceVersion.isKeyword(name) ? name + "_" : name;
    }

    private static String source(String name) {
        long[] op = new long[1], own = new long[1], doc = new long[1], names = new long[1], types = new long[1];
        long[] docs = new long[1], variable = new long[1];
        int[] count = new int[1];
        C.check(C.NNGetOpHandle(name, op));
        C.check(C.MXSymbolGetAtomicSymbolInfo(op[0], own, doc, count, names, types, docs, variable, new long[1]));
        String[] keys = C.texts(names[0], count[0]), kinds = C.texts(types[0], count[0]);
        String counts = C.text(variable[0]), about = C.text(doc[0]).replace("*/", "* /").replace("\\", "&#92;");
        StringBuilder text = new StringBuilder(String.format(
                "%n    /** %2$s */%n    public static Op%1$s %3$s(NDArray... inputs) {%n        return new Op%1$s(inputs);%n    }%n"
                        + "%n    public static final class Op%1$s extends Call {%n        private Op%1$s(NDArray[] inputs) {%n"
                        + "            super(\"%1$s\", inputs);%n",
                name, about, identifier(name)));
        if (!counts.isEmpty()) {
            text.append(String.format("            with(\"%s\", inputs.length);%n", counts));
        }
        text.append(String.format("        }%n"));
        for (int i = 0; i < keys.length; i++) {
            boolean input = kinds[i].startsWith("NDArray-or-Symbol");
            if (!input && !keys[i].equals(counts) && keys[i].matches("[A-Za-z_]\\w*")) {
                text.append(String.format(
                        "%n        /** %3$s */%n        public Op%1$s %4$s(Object value) {%n"
                                + "            with(\"%2$s\", value);%n            return this;%n        }%n",
                        name, keys[i], kinds[i].replace("*/", "* /"), identifier(keys[i])));
            }
        }
        return text.append(String.format("    }%n")).toString();
    }
}
