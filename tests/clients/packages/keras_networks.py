"""Keras on MXNet: three small networks, trained and asked."""

import os

os.environ["KERAS_BACKEND"] = "mxnet"

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402
from kit import draw  # noqa: E402


def trained(parts, x, y, loss):
    net = keras.models.Sequential(parts)
    net.compile(optimizer=keras.optimizers.SGD(lr=0.01, momentum=0.9), loss=loss)
    net.set_weights([draw(1, *each.shape) * 0.1 if each.ndim > 1 else each for each in net.get_weights()])
    told = net.fit(x, y, epochs=3, batch_size=16, verbose=0, shuffle=False)
    return [[float(each) for each in told.history["loss"]], net.predict(x[:2]).astype("float64").ravel().tolist()]


def run():
    dice = np.random.RandomState(0)
    hidden = layers.Dense(16, activation="relu", input_shape=(8,))
    classes = keras.utils.to_categorical(dice.randint(0, 3, 64), 3)
    image = layers.Conv2D(4, (3, 3), activation="relu", input_shape=(12, 12, 1), padding="same")
    picture = [image, layers.BatchNormalization(), layers.MaxPooling2D((2, 2)), layers.Flatten()]
    words = [layers.Embedding(10, 4, input_length=5), layers.LSTM(6, unroll=True)]
    mlp = trained([hidden, layers.Dense(3, activation="softmax")], draw(2, 64, 8), classes, "categorical_crossentropy")
    cnn = trained([*picture, layers.Dense(2)], draw(3, 32, 12, 12, 1), draw(4, 32, 2), "mse")
    sigmoid = layers.Dense(1, activation="sigmoid")
    lstm = trained([*words, sigmoid], dice.randint(0, 10, (32, 5)), dice.randint(0, 2, (32, 1)), "binary_crossentropy")
    return {"mlp": mlp, "cnn": cnn, "lstm": lstm}
