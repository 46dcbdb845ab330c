import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the plain JSON of cases.json: objects, arrays, numbers, strings. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Maps, lists, Double and String. */
    static Object read(String text) {
        return new Json(text).value();
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at)) || text.charAt(at) == ',' || text.charAt(at) == ':') {
            at++;
        }
        return text.charAt(at);
    }

    private Object value() {
        switch (next()) {
            case '{':
                Map<String, Object> map = new LinkedHashMap<>();
                for (at++; next() != '}'; ) {
                    map.put(string(), value());
                }
                at++;
                return map;
            case '[':
                List<Object> list = new ArrayList<>();
                for (at++; next() != ']'; ) {
                    list.add(value());
                }
                at++;
                return list;
            case '"':
                return string();
            default:
                int begin = at;
                while ("+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                    at++;
                }
                return Double.valueOf(text.substring(begin, at));
        }
    }

    private String string() {
        next();
        StringBuilder result = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\') {
                at++; // the character behind it, as it is
            }
            result.append(text.charAt(at));
        }
        at++;
        return result.toString();
    }
}
