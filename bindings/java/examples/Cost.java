import java.util.Arrays;
import java.util.Scanner;
import mxlite.NDArray;

/**
 * What {@code x.add(y)} of two 4 x 4 arrays costs, the sum closed. Answers each line, a number of calls, with the nanoseconds
 * of one: how benchmarks/bindings.py asks.
 */
public final class Cost {
    public static void main(String[] arguments) {
        float[] ones = new float[16];
        Arrays.fill(ones, 1);
        NDArray x = NDArray.of(ones, 4, 4), y = NDArray.of(ones, 4, 4);
        System.out.println("Java " + System.getProperty("java.version"));
        for (Scanner lines = new Scanner(System.in); lines.hasNextInt(); ) {
            int count = lines.nextInt();
            long begin = System.nanoTime();
            for (int i = 0; i < count; i++) {
                x.add(y).close();
            }
            System.out.println((System.nanoTime() - begin) / (double) count);
        }
    }
}
