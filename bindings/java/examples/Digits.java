import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import mxlite.Autograd;
import mxlite.MX;
import mxlite.NDArray;
import mxlite.Ops;

/** Trains a two-layer network on handwritten digits, as examples/digits.c does: java Digits DATA. */
public final class Digits {
    private static final int PIXELS = 64;
    private static final int IMAGES = 1797;
    private static final int TRAIN = 1437;
    private static final int BATCH = 32;
    private static final int EPOCHS = 20;

    /** Images with pixels of 0 to 1, and their digits. */
    private static final class Data {
        final NDArray images;
        final NDArray digits;

        Data(byte[] bytes, int begin, int end) {
            float[] pixels = new float[(end - begin) * PIXELS], values = new float[end - begin];
            for (int i = begin; i < end; i++) {
                for (int k = 0; k < PIXELS; k++) {
                    pixels[(i - begin) * PIXELS + k] = bytes[i * (PIXELS + 1) + k] / 16f;
                }
                values[i - begin] = bytes[i * (PIXELS + 1) + PIXELS];
            }
            images = NDArray.of(pixels, end - begin, PIXELS);
            digits = NDArray.of(values);
        }
    }

    private final NDArray[] weights;
    private final NDArray[] momenta;

    /** He's initial weights (He et al. 2015): normal with variance 2 / inputs; biases zero. */
    private Digits() {
        weights =
                new NDArray[] {
                    Ops._random_normal().shape(new int[] {128, 64}).scale(Math.sqrt(2.0 / 64)).get(),
                    Ops._zeros().shape(new int[] {128}).get(),
                    Ops._random_normal().shape(new int[] {10, 128}).scale(Math.sqrt(2.0 / 128)).get(),
                    Ops._zeros().shape(new int[] {10}).get()
                };
        momenta = Arrays.stream(weights).map(each -> Ops.zeros_like(each).get()).toArray(NDArray[]::new);
        Arrays.stream(weights).forEach(NDArray::attachGrad);
    }

    private NDArray scores(NDArray x) {
        try (NDArray before = Ops.FullyConnected(x, weights[0], weights[1]).num_hidden(128).get();
                NDArray hidden = Ops.relu(before).get()) {
            return Ops.FullyConnected(hidden, weights[2], weights[3]).num_hidden(10).get();
        }
    }

    /** Mean of -log(probability of the right digit). */
    private static NDArray crossEntropy(NDArray score, NDArray digits) {
        try (NDArray logs = Ops.log_softmax(score).get();
                NDArray right = Ops.pick(logs, digits).get();
                NDArray mean = Ops.mean(right).get()) {
            return mean.mul(-1);
        }
    }

    /** An order of 0 .. TRAIN-1 drawn from the library's random numbers. */
    private static float[] drawOrder() {
        float[] order = new float[TRAIN];
        try (NDArray numbers = Ops._random_uniform().shape(new int[] {TRAIN}).get()) {
            float[] drawn = numbers.toFloats();
            for (int i = 0; i < TRAIN; i++) {
                order[i] = i;
            }
            for (int i = TRAIN - 1; i > 0; i--) { // Fisher and Yates
                int k = Math.min(i, (int) (drawn[i] * (i + 1)));
                float kept = order[i];
                order[i] = order[k];
                order[k] = kept;
            }
        }
        return order;
    }

    private double trainBatch(NDArray x, NDArray y, double rate) {
        NDArray loss =
                Autograd.record(
                        () -> {
                            try (NDArray score = scores(x)) {
                                return crossEntropy(score, y);
                            }
                        });
        loss.backward();
        for (int i = 0; i < weights.length; i++) {
            try (NDArray grad = weights[i].grad()) {
                Ops.sgd_mom_update(weights[i], grad, momenta[i]).lr(rate).momentum(0.9).wd(0.0001).out(weights[i]).all();
            }
        }
        try (loss) {
            return loss.item();
        }
    }

    private double trainEpoch(Data data, double rate) {
        float[] order = drawOrder();
        double total = 0;
        for (int begin = 0; begin < TRAIN; begin += BATCH) {
            float[] batch = Arrays.copyOfRange(order, begin, Math.min(begin + BATCH, TRAIN));
            try (NDArray chosen = NDArray.of(batch);
                    NDArray x = Ops.take(data.images, chosen).get();
                    NDArray y = Ops.take(data.digits, chosen).get()) {
                total += trainBatch(x, y, rate) * batch.length;
            }
        }
        return total / TRAIN;
    }

    /** Loss and accuracy. */
    private double[] evaluate(Data data) {
        try (NDArray score = scores(data.images);
                NDArray loss = crossEntropy(score, data.digits);
                NDArray best = Ops.argmax(score).axis(1).get()) {
            float[] read = best.toFloats(), digits = data.digits.toFloats();
            int right = 0;
            for (int i = 0; i < read.length; i++) {
                right += read[i] == digits[i] ? 1 : 0;
            }
            return new double[] {loss.item(), (double) right / read.length};
        }
    }

    public static void main(String[] arguments) throws IOException {
        byte[] bytes = Files.readAllBytes(Path.of(arguments.length > 0 ? arguments[0] : "examples/data/digits.u8"));
        Data train = new Data(bytes, 0, TRAIN), held = new Data(bytes, TRAIN, IMAGES);
        MX.seed(1);
        Digits network = new Digits();
        double accuracy = 0;
        System.out.println("epoch   training loss   held-out loss   held-out accuracy   seconds");
        for (int epoch = 1; epoch <= EPOCHS; epoch++) {
            long begin = System.nanoTime();
            double loss = network.trainEpoch(train, epoch <= EPOCHS / 2 ? 0.2 : 0.02);
            double[] result = network.evaluate(held);
            accuracy = result[1];
            System.out.printf(
                    "%5d %15.4f %15.4f %19.3f %9.3f%n", epoch, loss, result[0], accuracy, (System.nanoTime() - begin) / 1e9);
        }
        System.out.printf("held-out accuracy %.3f%n", accuracy);
    }
}
