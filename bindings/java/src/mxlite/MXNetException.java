package mxlite;

/** What the library reports: one line that names the operator, what is wrong, and what came. */
public final class MXNetException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MXNetException(String message) {
        super(message);
    }
}
