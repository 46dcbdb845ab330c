"""Models of scikit-learn exported by skl2onnx: mxlite must predict what scikit-learn and ONNX Runtime predict.

.venvs/predict/bin/python tests/onnx/sklearn_models.py
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn import (
    cluster,
    datasets,
    decomposition,
    discriminant_analysis,
    ensemble,
    feature_selection,
    impute,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    preprocessing,
    svm,
    tree,
)
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline

from mxlite.onnx.backend import prepare

SEED: dict[str, Any] = {"random_state": 0}
#: libsvm's probabilities of several classes are found by steps that end within 0.005 of the least squares.
TOLERANCES = {"SVC of two classes, probabilities": 6e-3, "SVC, probabilities": 6e-3}


def models() -> list[tuple[str, Any, np.ndarray, Any]]:
    """Names, models, inputs and targets."""
    flowers, kinds = datasets.load_iris(return_X_y=True)
    flowers, two = flowers.astype("float32"), (kinds > 0).astype(int)
    patients, values = datasets.load_diabetes(return_X_y=True)
    patients = patients.astype("float32")
    holes = np.where(flowers > 7, np.nan, flowers).astype("float32")
    whole = np.round(flowers).astype("int64")
    line = linear_model.LogisticRegression
    pre = preprocessing

    def scaled(*steps: Any) -> Any:
        return make_pipeline(*steps, line())

    classifiers = [
        ("logistic", scaled(pre.StandardScaler())), ("tree", tree.DecisionTreeClassifier(**SEED)),
        ("forest", ensemble.RandomForestClassifier(10, **SEED)),
        ("extra trees", ensemble.ExtraTreesClassifier(10, **SEED)),
        ("boosting", ensemble.GradientBoostingClassifier(n_estimators=10, **SEED)), ("SVC", svm.SVC(**SEED)),
        ("AdaBoost", ensemble.AdaBoostClassifier(n_estimators=5, **SEED)), ("polynomial SVC", svm.SVC(kernel="poly")),
        ("bagging", ensemble.BaggingClassifier(n_estimators=3, **SEED)),
        ("ridge classifier", linear_model.RidgeClassifier()), ("neighbours", neighbors.KNeighborsClassifier(3)),
        ("network", neural_network.MLPClassifier((5,), max_iter=50, **SEED)),
        ("Bayes", naive_bayes.GaussianNB()), ("LDA", discriminant_analysis.LinearDiscriminantAnalysis()),
        ("QDA", discriminant_analysis.QuadraticDiscriminantAnalysis()), ("SGD", linear_model.SGDClassifier(**SEED)),
        ("logistic SGD", linear_model.SGDClassifier(loss="log_loss", **SEED)),
        ("SVC, probabilities", svm.SVC(probability=True, **SEED)),
        ("components", scaled(decomposition.PCA(2))), ("best features", scaled(feature_selection.SelectKBest(k=2))),
        ("normalizers", scaled(pre.Normalizer(), pre.RobustScaler(), pre.MaxAbsScaler())),
        ("binarizer", scaled(pre.Binarizer(threshold=3.0))), ("power", scaled(pre.PowerTransformer())),
    ]  # fmt: skip
    rows: list[tuple[str, Any, np.ndarray, Any]] = [(name, model, flowers, kinds) for name, model in classifiers]
    binary = [
        ("logistic", line()), ("tree", tree.DecisionTreeClassifier(max_depth=2, **SEED)),
        ("forest", ensemble.RandomForestClassifier(10, max_depth=3, **SEED)), ("SVC", svm.SVC(**SEED)),
        ("boosting", ensemble.GradientBoostingClassifier(n_estimators=10, **SEED)),
        ("network", neural_network.MLPClassifier((5,), max_iter=50, **SEED)),
        ("SVC of two classes, probabilities", svm.SVC(probability=True, **SEED)),
    ]  # fmt: skip
    rows += [(name if "two" in name else f"{name} of two classes", model, flowers, two) for name, model in binary]
    regressors = [
        ("linear", linear_model.LinearRegression()), ("ridge", make_pipeline(pre.MinMaxScaler(), linear_model.Ridge())),
        ("lasso", linear_model.Lasso()), ("regression tree", tree.DecisionTreeRegressor(max_depth=4, **SEED)),
        ("regression forest", ensemble.RandomForestRegressor(10, max_depth=4, **SEED)),
        ("regression boosting", ensemble.GradientBoostingRegressor(n_estimators=10, **SEED)), ("SVR", svm.SVR()),
        ("linear SVR", svm.LinearSVR(**SEED)), ("regression neighbours", neighbors.KNeighborsRegressor(3)),
        ("regression network", neural_network.MLPRegressor(hidden_layer_sizes=(6,), max_iter=30, **SEED)),
    ]  # fmt: skip
    rows += [(name, model, patients, values) for name, model in regressors]
    rows += [
        ("two targets", linear_model.LinearRegression(), patients, np.stack([values, values * 2], 1)),
        ("polynomials", make_pipeline(pre.PolynomialFeatures(2), linear_model.Ridge()), patients[:, :3], values),
        ("missing values", scaled(impute.SimpleImputer(), pre.StandardScaler()), holes, kinds),
        ("categories", scaled(pre.OneHotEncoder(sparse_output=False)), whole, kinds),
        ("outliers", svm.OneClassSVM(), flowers, None), ("k means", cluster.KMeans(3, **SEED), flowers, None),
        ("isolation forest", ensemble.IsolationForest(n_estimators=5, **SEED), flowers, None),
    ]  # fmt: skip
    return rows


def exported(model: Any, x: np.ndarray) -> Any:
    """The model of ONNX, whose probabilities are an array and no list of maps."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    options = {id(last): {"zipmap": False}} if is_classifier(last) else None
    return to_onnx(model, x[:1], options=options, target_opset={"": 18, "ai.onnx.ml": 3})


def check(name: str, model: Any, x: np.ndarray, y: Any) -> str:
    """A line; it begins with "!" where something is wrong."""
    if y is None:
        model.fit(x)
    else:
        model.fit(x, y)
    file = exported(model, x)
    some = x[::3]
    if x.dtype == np.float32:  # apart from the points that the model has seen: some lie on its borders
        some = some + np.random.RandomState(1).uniform(0.005, 0.02, some.shape).astype("float32")
    given = {file.graph.input[0].name: some}
    wish = onnxruntime.InferenceSession(file.SerializeToString()).run(None, given)
    made = prepare(file).run(given)
    if [each.shape for each in made] != [each.shape for each in wish] or [a.dtype for a in made] != [
        b.dtype for b in wish
    ]:
        return f"! {name}: {[(each.shape, each.dtype) for each in made]}"
    worst = max(
        float(np.abs(a.astype(float) - b.astype(float)).max() / max(1, np.abs(b).max())) for a, b in zip(made, wish)
    )
    own = model.predict(some)
    agrees, theirs = (
        float(np.mean(np.abs(each[0].reshape(own.shape) - own) <= 1e-3 * max(1, np.abs(own).max())))
        for each in (made, wish)
    )
    is_wrong = worst > TOLERANCES.get(name, 1e-4) or agrees < theirs
    return f"{'! ' if is_wrong else ''}{name}: {worst:.1e} from ONNX Runtime, {agrees:.0%} as scikit-learn"


def main() -> int:
    warnings.simplefilter("ignore")
    lines = [check(*row) for row in models()]
    failed = [line for line in lines if line.startswith("!")]
    print("\n".join(lines if "--verbose" in sys.argv else failed))
    print(f"onnx models of scikit-learn: {len(lines) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
