package mxlite;

/** Kinds of elements, in the order of MXNet's type flags. */
public enum DType {
    FLOAT32(4),
    FLOAT64(8),
    FLOAT16(2),
    UINT8(1),
    INT32(4),
    INT8(1),
    INT64(8),
    BOOL(1);

    final int bytes;

    DType(int bytes) {
        this.bytes = bytes;
    }

    /** The name that operators' parameters use: "float32". */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
