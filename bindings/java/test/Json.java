import java.io.IOException;
import java.io.Reader;
import java.io.StreamTokenizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the plain JSON of cases.json: maps, lists, Double and String. */
final class Json {
    private final StreamTokenizer tokens;

    Json(Reader text) {
        tokens = new StreamTokenizer(text);
        tokens.resetSyntax();
        tokens.wordChars('+', 'z'); // numbers; '[' and ']' are among them:
        tokens.ordinaryChars('[', ']');
        tokens.quoteChar('"');
        for (char between : " \n,:".toCharArray()) {
            tokens.whitespaceChars(between, between);
        }
    }

    Object value() throws IOException {
        switch (tokens.nextToken()) {
            case '{':
                Map<String, Object> map = new LinkedHashMap<>();
                while (tokens.nextToken() == '"') {
                    String key = tokens.sval;
                    map.put(key, value());
                }
                return map;
            case '[':
                List<Object> list = new ArrayList<>();
                for (; tokens.nextToken() != ']'; list.add(value())) {
                    tokens.pushBack();
                }
                return list;
            case '"':
                return tokens.sval;
            default:
                return Double.valueOf(tokens.sval);
        }
    }
}
