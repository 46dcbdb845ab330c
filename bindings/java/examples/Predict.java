import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Runs a saved model on images that it was not trained on, as ../predict/predict.c does: java Predict JSON PARAMS DIGITS. */
public final class Predict {
    private static final int PIXELS = 64;
    private static final int CLASSES = 10;
    private static final int RECORD = PIXELS + 1; // bytes of an image and its digit
    private static final int TRAIN = 1437;
    private static final int BATCH = 10;

    private Predict() {}

    /** The digit of each image of a batch that begins at image `at`. */
    private static int[] see(Predictor predictor, byte[] data, int at) {
        float[] pixels = new float[BATCH * PIXELS];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = data[(at + i / PIXELS) * RECORD + i % PIXELS] / 16f;
        }
        float[] scores = predictor.set("data", pixels).forward().output(0);
        return IntStream.range(0, BATCH)
                .map(image -> IntStream.range(0, CLASSES)
                        .reduce(0, (best, k) -> scores[image * CLASSES + k] > scores[image * CLASSES + best] ? k : best))
                .toArray();
    }

    public static void main(String[] files) throws IOException {
        byte[] data = Files.readAllBytes(Path.of(files[2]));
        int right = 0, seen = 0;
        try (Predictor predictor =
                new Predictor(Files.readString(Path.of(files[0])), Files.readAllBytes(Path.of(files[1])), "data", BATCH, PIXELS)) {
            for (int at = TRAIN; (at + BATCH) * RECORD <= data.length; at += BATCH) {
                int[] digits = see(predictor, data, at);
                System.out.println(Arrays.stream(digits).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
                for (int i = 0; i < BATCH; i++) {
                    right += digits[i] == data[(at + i) * RECORD + PIXELS] ? 1 : 0;
                    seen++;
                }
            }
        }
        System.out.printf("held-out accuracy %.3f%n", (double) right / seen);
    }
}
