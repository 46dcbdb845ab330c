// Trains a two-layer network on handwritten digits, as examples/digits.c does:  digits [digits.u8]
#include "ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <numeric>

using namespace mxlite;

constexpr int pixels = 64, classes = 10, images = 1797, train = 1437, hidden = 128, batch = 32,
              epochs = 20;

struct Data {
    NDArray images, digits;
};

static Data rows(const std::vector<unsigned char> &bytes, int begin, int end)
{
    std::vector<float> x, y;
    for (int i = begin; i < end; i++) {
        const unsigned char *record = &bytes[static_cast<size_t>(i) * (pixels + 1)];
        for (int k = 0; k < pixels; k++)
            x.push_back(record[k] / 16.0f);
        y.push_back(record[pixels]);
    }
    return {NDArray::from(x, {end - begin, pixels}), NDArray::from(y)};
}

struct Network {
    std::vector<NDArray> weights, momenta;

    // He's initial weights (He et al. 2015): normal with variance 2 / inputs; biases zero.
    Network()
    {
        for (int inputs : {pixels, hidden}) {
            int outputs = inputs == pixels ? hidden : classes;
            weights.push_back(op::_random_normal(
                {{"shape", {outputs, inputs}}, {"scale", std::sqrt(2.0 / inputs)}}));
            weights.push_back(op::_zeros({{"shape", {outputs}}}));
        }
        for (NDArray &weight : weights) {
            weight.attach_grad();
            momenta.push_back(op::zeros_like(weight));
        }
    }

    NDArray scores(const NDArray &x) const
    {
        NDArray inner =
            op::relu(op::FullyConnected(x, weights[0], weights[1], {{"num_hidden", hidden}}));
        return op::FullyConnected(inner, weights[2], weights[3], {{"num_hidden", classes}});
    }

    void step(double rate)
    {
        for (size_t i = 0; i < weights.size(); i++)
            op::sgd_mom_update.into({weights[i]}, {weights[i], weights[i].grad(), momenta[i]},
                                    {{"lr", rate}, {"momentum", 0.9}, {"wd", 1e-4}});
    }
};

// Mean of -log(probability of the right digit).
static NDArray cross_entropy(const NDArray &scores, const NDArray &digits)
{
    return -op::mean(op::pick(op::log_softmax(scores), digits));
}

static double train_epoch(Network &net, const Data &data, double rate)
{
    std::vector<float> drawn = op::_random_uniform({{"shape", {train}}}).to_vector<float>(),
                       order(train);
    std::iota(order.begin(), order.end(), 0.0f);
    for (size_t i = train - 1; i > 0; i--) // Fisher and Yates
        std::swap(order[i],
                  order[std::min(i, static_cast<size_t>(drawn[i] * static_cast<float>(i + 1)))]);
    double total = 0;
    for (size_t begin = 0; begin < train; begin += batch) {
        size_t end = std::min<size_t>(begin + batch, train);
        NDArray chosen = NDArray::from(std::vector<float>(order.begin() + static_cast<long>(begin),
                                                          order.begin() + static_cast<long>(end)));
        NDArray x = op::take(data.images, chosen), y = op::take(data.digits, chosen), loss;
        {
            autograd::RecordScope record;
            loss = cross_entropy(net.scores(x), y);
        }
        loss.backward();
        net.step(rate);
        total += loss.item() * static_cast<double>(end - begin);
    }
    return total / train;
}

int main(int argc, char **argv)
try {
    std::ifstream file(argc > 1 ? argv[1] : "examples/data/digits.u8", std::ios::binary);
    std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() != images * (pixels + 1))
        throw Error("the file of digits is missing, or of another length");
    Data training = rows(bytes, 0, train), held = rows(bytes, train, images);
    seed(1);
    Network net;
    double accuracy = 0;
    std::puts("epoch   training loss   held-out loss   held-out accuracy   seconds");
    for (int epoch = 1; epoch <= epochs; epoch++) {
        clock_t begin = clock();
        double loss = train_epoch(net, training, epoch <= epochs / 2 ? 0.2 : 0.02);
        NDArray scores = net.scores(held.images);
        NDArray right = op::_equal(op::argmax(scores, {{"axis", 1}}), held.digits);
        accuracy = op::mean(right).item();
        std::printf("%5d %15.4f %15.4f %19.3f %9.3f\n", epoch, loss,
                    static_cast<double>(cross_entropy(scores, held.digits).item()), accuracy,
                    static_cast<double>(clock() - begin) / CLOCKS_PER_SEC);
    }
    std::printf("held-out accuracy %.3f\n", accuracy);
    return accuracy >= 0.97 ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
}
