package mxlite;

import java.util.Locale;

/** Kinds of elements, in the order of MXNet's type flags. */
public enum DType {
    FLOAT32, FLOAT64, FLOAT16, UINT8, INT32, INT8, INT64, BOOL;

    /** The name that operators' parameters use: "float32". */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
