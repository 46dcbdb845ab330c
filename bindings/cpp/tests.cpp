// The C++ binding's tests: values, errors, lifetimes, autograd, files, threads; then ../cases.json.
//     tests [cases.json]
#include "conformance.hpp"
#include "ops.hpp"

#include <cmath>
#include <cstdio>
#include <thread>

using namespace mxlite;
using Floats = std::vector<float>;

static Counts counts;
static bool fine;

static void expect(bool holds, const char *what, int line)
{
    if (!holds) {
        std::printf("  tests.cpp:%d: not so: %s\n", line, what);
        fine = false;
    }
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

static int64_t live_handles()
{
    int64_t count = 0;
    check(MXLGetLiveHandles(&count));
    return count;
}

template <class F> static void test(const char *name, F body)
{
    int64_t before = live_handles();
    fine = true;
    try {
        body();
    } catch (const std::exception &error) {
        std::printf("  %s\n", error.what());
        fine = false;
    }
    EXPECT(live_handles() == before); // whatever a test did, nothing is left
    (fine ? counts.passed : counts.failed)++;
    if (!fine)
        std::printf("FAIL %s\n", name);
}

template <class F> static std::string message(F body)
{
    try {
        body();
    } catch (const Error &error) {
        return error.what();
    }
    return "";
}

static NDArray three()
{
    return NDArray::from<float>({1, 2, 3});
}

static void arrays()
{
    test("from and to vectors", [] {
        NDArray x = NDArray::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
        EXPECT((x.shape() == Shape{2, 3}) && x.size() == 6 && x.dtype() == DType::f32);
        EXPECT((x.to_vector<float>() == Floats{1, 2, 3, 4, 5, 6}));
    });
    test("dtypes of C++'s types", [] {
        EXPECT(NDArray::from<double>({0.1}).item<double>() == 0.1);
        EXPECT(NDArray::from<int32_t>({-7}).item<int32_t>() == -7);
        EXPECT(NDArray::from<int64_t>({int64_t{1} << 40}).item<int64_t>() == int64_t{1} << 40);
        EXPECT(NDArray::from<uint8_t>({255}).item<uint8_t>() == 255);
        EXPECT(NDArray::from<int8_t>({-128}).item<int8_t>() == -128);
    });
    test("astype",
         [] { EXPECT(NDArray::from<float>({-1.75f}).astype(DType::i32).item<int32_t>() == -1); });
    test("another type is an error", [] {
        NDArray x = three();
        EXPECT(message([&] { x.to_vector<double>(); }) != "");
    });
    test("item wants one element", [] {
        NDArray x = three();
        EXPECT(message([&] { x.item(); }) == "item: the array has 3 elements, not 1");
    });
    test("the number of values must be the shape's",
         [] { EXPECT(message([] { NDArray::from<float>({1, 2, 3}, {2, 2}); }) != ""); });
    test("reshape, slice and row share memory", [] {
        NDArray x = NDArray::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
        NDArray part = x.reshape({3, -1}).slice(1, 3), row = x[1];
        EXPECT((part.shape() == Shape{2, 2}) && (row.to_vector<float>() == Floats{4, 5, 6}));
        row += NDArray::from<float>({10, 10, 10});
        EXPECT((part.to_vector<float>() == Floats{3, 14, 15, 16}));
    });
    test("a row beyond the end", [] {
        NDArray x = three();
        EXPECT(message([&] { x[3]; }) != "");
    });
}

static void operators()
{
    test("arithmetic of arrays", [] {
        NDArray x = three(), y = NDArray::from<float>({4, 4, 4});
        EXPECT((((x + y) * y - x) / x).to_vector<float>() == Floats({19, 11, 25.0f / 3}));
        EXPECT((-x).to_vector<float>() == Floats({-1, -2, -3}));
    });
    test("arithmetic with numbers, on either side", [] {
        NDArray x = three();
        EXPECT((1 + x * 2 - 1).to_vector<float>() == Floats({2, 4, 6}));
        EXPECT((6 / x).to_vector<float>() == Floats({6, 3, 2}));
        EXPECT((6 - x / 2).to_vector<float>() == Floats({5.5, 5, 4.5}));
    });
    test("broadcasting", [] {
        NDArray x = NDArray::from<float>({1, 2}, {2, 1}),
                y = NDArray::from<float>({10, 20}, {1, 2});
        EXPECT((x + y).to_vector<float>() == Floats({11, 21, 12, 22}));
    });
    test("in place", [] {
        NDArray x = three(), seen = x.share();
        x += x;
        x *= x;
        EXPECT(seen.to_vector<float>() == Floats({4, 16, 36}));
    });
    test("parameters: numbers, booleans, shapes, words", [] {
        NDArray x = NDArray::from<float>({1, 2, 3, 4}, {2, 2});
        EXPECT((op::sum(x, {{"axis", 1}, {"keepdims", true}}).shape() == Shape{2, 1}));
        EXPECT((op::Reshape(x, {{"shape", {4, 1}}}).shape() == Shape{4, 1}));
        EXPECT(
            (op::Activation(-x, {{"act_type", "relu"}}).to_vector<float>() == Floats{0, 0, 0, 0}));
        EXPECT(op::clip(x, {{"a_min", 1.5}, {"a_max", 2.5f}}).to_vector<float>() ==
               Floats({1.5, 2, 2.5, 2.5}));
    });
    test("a double goes through whole", [] {
        NDArray x = NDArray::from<double>({0});
        EXPECT((x + 0.1).item<double>() == 0.1);
        EXPECT(op::_plus_scalar(x, {{"scalar", 0.1}}).item<double>() == 0.1);
    });
    test("several outputs", [] {
        std::vector<NDArray> parts =
            op::SliceChannel.all({three()}, {{"num_outputs", 3}, {"axis", 0}});
        EXPECT(parts.size() == 3 && parts[2].item() == 3);
    });
    test("several outputs where one is wanted", [] {
        NDArray x = three();
        EXPECT(message([&] { op::SliceChannel(x, {{"num_outputs", 3}, {"axis", 0}}); }) ==
               "SliceChannel: 3 outputs; all() returns them");
    });
    test("any number of inputs", [] {
        NDArray x = three();
        EXPECT(op::add_n.one({x, x, x, x}).to_vector<float>() == Floats({4, 8, 12}));
    });
    test("into arrays that there are", [] {
        NDArray x = three(), y = NDArray::empty({3});
        op::square.into({y}, {x});
        EXPECT(y.to_vector<float>() == Floats({1, 4, 9}));
    });
    test("by a name known at run time", [] {
        NDArray x = three();
        EXPECT(invoke("sum", {x}).front().item() == 6);
    });
    test("every operator of the library has a name here", [] {
        EXPECT(operator_names().size() > 300 && std::string(op::softmax.name()) == "softmax");
    });
    test("seeds", [] {
        auto draw = [](int value) {
            seed(value);
            return op::_random_uniform({{"shape", {8}}}).to_vector<float>();
        };
        EXPECT(draw(3) == draw(3) && draw(3) != draw(4));
    });
}

static void errors()
{
    test("the library's message", [] {
        NDArray x = three();
        EXPECT(message([&] { op::softmax(x, {{"axes", 1}}); }) ==
               "softmax: unknown parameter \"axes\"; did you mean \"axis\"? It takes axis, "
               "temperature, dtype, use_length");
    });
    test("an unknown operator", [] {
        EXPECT(message([] { invoke("no_such", {}); }) ==
               "NNGetOpHandle: operator no_such is not registered");
    });
    test("shapes that do not fit", [] {
        NDArray x = three(), y = NDArray::from<float>({1, 2});
        EXPECT(message([&] { x + y; }).find("(3,)") != std::string::npos);
    });
    test("into nothing", [] {
        NDArray x = three();
        EXPECT(message([&] { op::square.into({}, {x}); }) != "");
    });
    test("an empty array", [] {
        NDArray none, x = three();
        EXPECT(none.is_empty() && message([&] { none + x; }) != "" &&
               message([&] { none.shape(); }) != "");
    });
}

static void lifetimes()
{
    test("moves leave the source empty", [] {
        NDArray x = three(), y = std::move(x);
        EXPECT(x.is_empty() && y.size() == 3);
    });
    test("assignment frees what was there", [] {
        int64_t before = live_handles();
        NDArray x = three();
        x = three();
        NDArray &self = x;
        x = std::move(self);
        EXPECT(live_handles() == before + 1 && x.size() == 3);
    });
    test("not copied by accident", [] {
        EXPECT(!std::is_copy_constructible_v<NDArray> && !std::is_copy_assignable_v<NDArray>);
        EXPECT(std::is_nothrow_move_constructible_v<NDArray>);
    });
    test("copy is apart, share is not", [] {
        NDArray x = three(), apart = x.copy(), same = x.share();
        x += x;
        EXPECT(apart.to_vector<float>() == Floats({1, 2, 3}) &&
               same.to_vector<float>() == Floats({2, 4, 6}));
    });
    test("a released handle is the caller's", [] {
        NDArrayHandle raw = three().release();
        EXPECT(MXNDArrayFree(raw) == 0);
        EXPECT(MXNDArrayFree(raw) == -1); // and cannot be freed twice
    });
    test("what was recorded outlives the handles", [] {
        NDArray x = three(), y;
        x.attach_grad();
        {
            autograd::RecordScope record;
            NDArray inner = x * x;
            y = inner * x;
        }
        y.backward();
        EXPECT(x.grad().to_vector<float>() == Floats({3, 12, 27}));
    });
    test("an exception unwinds a scope", [] {
        message([] {
            autograd::RecordScope record;
            throw Error("out");
        });
        EXPECT(!autograd::is_recording() && !autograd::is_training());
    });
}

static void gradients()
{
    test("scopes nest", [] {
        autograd::RecordScope record;
        EXPECT(autograd::is_recording() && autograd::is_training());
        {
            autograd::PauseScope pause;
            EXPECT(!autograd::is_recording() && !autograd::is_training());
            autograd::RecordScope predict(false);
            EXPECT(autograd::is_recording() && !autograd::is_training());
        }
        EXPECT(autograd::is_recording() && autograd::is_training());
    });
    test("what is paused is a constant", [] {
        NDArray x = three(), y;
        x.attach_grad();
        {
            autograd::RecordScope record;
            NDArray twice = x * 2;
            autograd::PauseScope pause;
            NDArray constant = x * 3;
            autograd::RecordScope again;
            y = twice * constant;
        }
        y.backward();
        EXPECT(x.grad().to_vector<float>() == Floats({6, 12, 18}));
    });
    test("gradients add up where asked", [] {
        NDArray x = three();
        x.attach_grad(true);
        for (int i = 0; i < 2; i++) {
            NDArray y;
            {
                autograd::RecordScope record;
                y = x * x;
            }
            y.backward();
        }
        EXPECT(x.grad().to_vector<float>() == Floats({4, 8, 12}));
    });
    test("head gradients", [] {
        NDArray x = three(), head = NDArray::from<float>({1, 10, 100}), y;
        x.attach_grad();
        {
            autograd::RecordScope record;
            y = x * x;
        }
        autograd::backward({y}, {head});
        EXPECT(x.grad().to_vector<float>() == Floats({2, 40, 600}));
    });
    test("gradients of any order", [] {
        NDArray x = NDArray::from<double>({0.5}), y;
        x.attach_grad();
        autograd::RecordScope record;
        y = op::sin(x);
        const double wanted[] = {std::cos(0.5), -std::sin(0.5), -std::cos(0.5), std::sin(0.5),
                                 std::cos(0.5)};
        for (double value : wanted) {
            autograd::Options options;
            options.create_graph = true;
            y = std::move(autograd::grad({y}, {x}, options).front());
            EXPECT(std::abs(y.item<double>() - value) < 1e-12);
        }
    });
    test("detach", [] {
        NDArray x = three(), y;
        x.attach_grad();
        {
            autograd::RecordScope record;
            y = x.detach() * x;
        }
        y.backward();
        EXPECT(x.grad().to_vector<float>() == Floats({1, 2, 3}));
    });
    test("backward of what was not recorded", [] {
        NDArray x = three();
        EXPECT(message([&] { x.backward(); }) != "" && x.grad().is_empty());
    });
}

static void files()
{
    test("save and load", [] {
        const std::string path = "cpp-tests.params";
        NDArray x = three(), y = NDArray::from<int32_t>({1, 2, 3, 4}, {2, 2});
        save(path, {{"x", x}, {"y", y}});
        std::map<std::string, NDArray> all = load(path);
        EXPECT(all.size() == 2 && all.at("x").to_vector<float>() == Floats({1, 2, 3}));
        EXPECT((all.at("y").shape() == Shape{2, 2}) && all.at("y").dtype() == DType::i32);
        std::remove(path.c_str());
        EXPECT(message([&] { load(path); }).find(path) != std::string::npos);
    });
}

static void threads()
{
    test("recording and errors belong to the thread", [] {
        NDArray x = three();
        x.attach_grad();
        autograd::RecordScope record;
        bool other = true;
        std::string why;
        std::thread([&] {
            other = autograd::is_recording();
            why = message([] { invoke("only_there", {}); });
        }).join();
        EXPECT(!other && why.find("only_there") != std::string::npos);
        EXPECT(std::string(MXGetLastError()).find("only_there") == std::string::npos);
    });
    test("threads share operators and arrays", [] {
        NDArray x = three();
        std::vector<double> sums(4);
        std::vector<std::thread> all;
        for (double &sum : sums)
            all.emplace_back([&x, &sum] {
                for (int i = 0; i < 200; i++) {
                    NDArray mine = x.copy(), y;
                    mine.attach_grad();
                    {
                        autograd::RecordScope record;
                        y = op::sum(op::square(mine) + x);
                    }
                    y.backward();
                    sum += y.item() + mine.grad().to_vector<float>()[2];
                }
            });
        for (std::thread &each : all)
            each.join();
        for (double sum : sums)
            EXPECT(sum == 200 * (20 + 6));
    });
}

int main(int argc, char **argv)
{
    arrays();
    operators();
    errors();
    lifetimes();
    gradients();
    files();
    threads();
    try {
        Counts cases = run_cases(argc > 1 ? argv[1] : "../cases.json");
        counts.passed += cases.passed;
        counts.failed += cases.failed + (cases.passed == 0);
    } catch (const std::exception &error) {
        std::printf("FAIL %s\n", error.what());
        counts.failed++;
    }
    std::printf("cpp: %d passed, %d failed\n", counts.passed, counts.failed);
    return counts.failed != 0;
}
