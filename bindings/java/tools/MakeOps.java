package mxlite;

import static mxlite.CLibrary.C;
import static mxlite.CLibrary.check;

import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.PrintWriter;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes Ops.java from the library's introspection: a method for each operator, whose parameters are methods of its call. */
public final class MakeOps {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*");

    public static void main(String[] arguments) throws Exception {
        IntByReference count = new IntByReference();
        PointerByReference creators = new PointerByReference();
        check(C.MXSymbolListAtomicSymbolCreators(count, creators));
        TreeMap<String, String> sources = new TreeMap<>();
        for (long op : creators.getValue().getLongArray(0, count.getValue())) {
            describe(op, sources);
        }
        try (PrintWriter file = new PrintWriter(arguments[0], "UTF-8")) {
            file.println("// Written by MakeOps from the library's operators; do not edit.");
            file.println("package mxlite;\n\n/** All operators: Ops.softmax(x).axis(1).get(). */\npublic final class Ops {");
            file.println("    private Ops() {}");
            sources.values().forEach(file::print);
            file.println("}");
        }
    }

    private static void describe(long op, TreeMap<String, String> sources) {
        PointerByReference[] p = new PointerByReference[7];
        IntByReference count = new IntByReference();
        for (int i = 0; i < p.length; i++) {
            p[i] = new PointerByReference();
        }
        check(C.MXSymbolGetAtomicSymbolInfo(op, p[0], p[1], count, p[2], p[3], p[4], p[5], p[6]));
        String name = p[0].getValue().getString(0), counts = p[5].getValue().getString(0);
        int number = count.getValue();
        String[] names = number == 0 ? new String[0] : p[2].getValue().getStringArray(0, number);
        String[] types = number == 0 ? new String[0] : p[3].getValue().getStringArray(0, number);
        sources.put(name, source(name, p[1].getValue().getString(0), counts, names, types));
    }

    private static String source(String name, String doc, String counts, String[] names, String[] types) {
        String type = "Op" + name;
        StringBuilder text = new StringBuilder();
        String start = counts.isEmpty() ? "" : "            with(\"" + counts + "\", inputs.length);\n";
        text.append("\n    /** ").append(doc.replace("*/", "* /").replace("\\", "&#92;")).append(" */\n");
        text.append("    public static ").append(type).append(' ').append(name).append("(NDArray... inputs) {\n");
        text.append("        return new ").append(type).append("(inputs);\n    }\n");
        text.append("\n    public static final class ").append(type).append(" extends Call {\n");
        text.append("        private ").append(type).append("(NDArray[] inputs) {\n            super(\"").append(name);
        text.append("\", inputs);\n").append(start).append("        }\n");
        for (int i = 0; i < names.length; i++) {
            Matcher matcher = NAME.matcher(names[i]);
            if (types[i].startsWith("NDArray-or-Symbol") || !matcher.matches() || names[i].equals(counts)) {
                continue;
            }
            text.append("\n        /** ").append(types[i].replace("*/", "* /")).append(" */\n        public ").append(type);
            text.append(' ').append(names[i]).append("(Object value) {\n            with(\"").append(names[i]);
            text.append("\", value);\n            return this;\n        }\n");
        }
        return text.append("    }\n").toString();
    }
}
