// mxlite for C++17: arrays that free themselves, errors as exceptions, operators by name with
// keyword parameters, recording scopes. Header only, over mxlite.h. bindings/cpp has its README and
// make_ops, a program that writes a function object for every operator of the library.
#ifndef MXLITE_MXLITE_HPP_
#define MXLITE_MXLITE_HPP_

#include "mxlite.h"

#include <atomic>
#include <charconv>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxlite
{

// The exception of a failing call; what() returns the library's message.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void check(int status)
{
    if (status != 0)
        throw Error(MXGetLastError());
}

enum class DType { f32 = 0, f64 = 1, f16 = 2, u8 = 3, i32 = 4, i8 = 5, i64 = 6, boolean = 7 };

using Shape = std::vector<int64_t>;

namespace detail
{

// The dtype of arrays with elements of type T.
template <class T> constexpr DType dtype_of()
{
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "no dtype for this type");
    if constexpr (std::is_same_v<T, bool>)
        return DType::boolean;
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? DType::f32 : DType::f64;
    else if constexpr (sizeof(T) == 1)
        return std::is_signed_v<T> ? DType::i8 : DType::u8;
    else {
        static_assert(std::is_signed_v<T> && sizeof(T) >= 4, "no dtype for this type");
        return sizeof(T) == 4 ? DType::i32 : DType::i64;
    }
}

// Numbers as text, the same in every locale, that reads back as the same number.
template <class T> std::string text(T value)
{
    char room[32];
    return {room, std::to_chars(room, room + sizeof(room), value).ptr};
}

inline std::string text(const Shape &shape)
{
    std::string all = "(";
    for (int64_t extent : shape)
        all += text(extent) + ",";
    return all + ")";
}

} // namespace detail

// ---- parameters: {{"axis", 1}, {"keepdims", true}, {"shape", {2, 3}}, {"act_type", "relu"}} ----

struct Param {
    std::string key, value;

    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Param(std::string name, T number) : key(std::move(name))
    {
        if constexpr (std::is_same_v<T, bool>)
            value = number ? "True" : "False";
        else
            value = detail::text(number);
    }
    Param(std::string name, std::string words) : key(std::move(name)), value(std::move(words)) {}
    Param(std::string name, const Shape &shape) : Param(std::move(name), detail::text(shape)) {}
    Param(std::string name, std::initializer_list<int64_t> shape)
        : Param(std::move(name), Shape(shape))
    {
    }
};

using Params = std::vector<Param>;

// ---- arrays ----

// Owns one handle; movable, not copyable. share() returns a second handle of the same memory,
// copy() an array with memory of its own. A default-constructed or moved-from array is empty and
// can only be assigned to.
class NDArray
{
  public:
    NDArray() = default;
    explicit NDArray(NDArrayHandle owned) : handle_(owned) {}
    NDArray(NDArray &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    NDArray &operator=(NDArray &&other) noexcept
    {
        NDArray old(std::exchange(handle_, std::exchange(other.handle_, nullptr)));
        return *this;
    }
    ~NDArray()
    {
        MXNDArrayFree(handle_);
    }

    // An array with undefined values; one with the given values; one with a single value.
    static NDArray empty(const Shape &shape, DType dtype = DType::f32)
    {
        NDArray array;
        check(MXNDArrayCreateEx64(shape.data(), static_cast<int>(shape.size()), 1, 0, 0,
                                  static_cast<int>(dtype), &array.handle_));
        return array;
    }
    template <class T> static NDArray from(const std::vector<T> &values, const Shape &shape)
    {
        NDArray array = empty(shape, detail::dtype_of<T>());
        check(MXNDArraySyncCopyFromCPU(array.handle_, values.data(), values.size()));
        return array;
    }
    template <class T> static NDArray from(const std::vector<T> &values)
    {
        return from(values, {static_cast<int64_t>(values.size())});
    }

    bool is_empty() const
    {
        return handle_ == nullptr;
    }
    NDArrayHandle handle() const
    {
        return handle_;
    }
    NDArrayHandle release()
    {
        return std::exchange(handle_, nullptr);
    }

    Shape shape() const
    {
        int ndim = 0;
        const int64_t *extents = nullptr;
        check(MXNDArrayGetShapeEx64(handle_, &ndim, &extents));
        return ndim > 0 ? Shape(extents, extents + ndim) : Shape();
    }
    DType dtype() const
    {
        int dtype = 0;
        check(MXNDArrayGetDType(handle_, &dtype));
        return static_cast<DType>(dtype);
    }
    size_t size() const
    {
        size_t product = 1;
        for (int64_t extent : shape())
            product *= static_cast<size_t>(extent);
        return product;
    }

    // The elements in C order; T must be the array's dtype.
    template <class T> std::vector<T> to_vector() const
    {
        if (dtype() != detail::dtype_of<T>())
            throw Error("to_vector: the array's dtype is not that of the vector");
        std::vector<T> values(size());
        check(MXNDArraySyncCopyToCPU(handle_, values.data(), values.size()));
        return values;
    }
    // The only element.
    template <class T = float> T item() const
    {
        if (size() != 1)
            throw Error("item: the array has " + detail::text(size()) + " elements, not 1");
        return to_vector<T>().front();
    }

    NDArray share() const
    {
        return made(MXShallowCopyNDArray);
    }
    NDArray detach() const
    {
        return made(MXNDArrayDetach);
    }
    NDArray copy() const;
    NDArray astype(DType dtype) const;
    NDArray reshape(const Shape &shape) const
    {
        return own(MXLNDArrayReshape(handle_, static_cast<int>(shape.size()), shape.data(), 0));
    }
    NDArray slice(int64_t begin, int64_t end) const
    {
        return own(MXLNDArraySlice(handle_, begin, end));
    }
    NDArray operator[](int64_t index) const
    {
        return own(MXLNDArrayAt(handle_, index));
    }

    // Makes this array a leaf with a gradient of zeros; add: backward adds instead of overwriting.
    void attach_grad(bool add = false);
    // The leaf's gradient; empty if it has none.
    NDArray grad() const
    {
        return made(MXNDArrayGetGrad);
    }
    void backward(bool retain_graph = false, bool train = true) const
    {
        NDArrayHandle head = handle_;
        check(MXAutogradBackwardEx(1, &head, nullptr, 0, nullptr, retain_graph, 0, train, nullptr,
                                   nullptr));
    }

    // Takes over a handle that a function of mxlite.h returned; throws if it is NULL.
    static NDArray own(NDArrayHandle handle)
    {
        check(handle == nullptr ? -1 : 0);
        return NDArray(handle);
    }

  private:
    NDArrayHandle handle_ = nullptr;

    NDArray made(int (*function)(NDArrayHandle, NDArrayHandle *)) const
    {
        NDArray array;
        check(function(handle_, &array.handle_));
        return array;
    }
};

// An array that is read within the same expression, so that `f({x, g(y)})` compiles.
struct ArrayRef {
    NDArrayHandle handle;
    ArrayRef(const NDArray &array) : handle(array.handle()) {}
};

using Arrays = std::vector<ArrayRef>;

namespace detail
{

inline std::vector<NDArrayHandle> handles(const Arrays &arrays)
{
    std::vector<NDArrayHandle> all;
    for (const ArrayRef &array : arrays)
        all.push_back(array.handle);
    return all;
}

inline std::vector<NDArray> adopt(size_t count, NDArrayHandle *lent)
{
    std::vector<NDArray> all;
    all.reserve(count);
    for (size_t i = 0; i < count; i++)
        all.emplace_back(lent[i]);
    return all;
}

} // namespace detail

// ---- operators ----

// An operator by name, looked up at the first call. make_ops writes one for every name.
class Op
{
  public:
    explicit constexpr Op(const char *name) : name_(name) {}
    const char *name() const
    {
        return name_;
    }

    // All outputs of a call, as new arrays.
    std::vector<NDArray> all(const Arrays &inputs, const Params &params = {}) const
    {
        int count = 0;
        NDArrayHandle *outputs = nullptr;
        run(inputs, params, count, outputs);
        return detail::adopt(static_cast<size_t>(count), outputs);
    }
    // The only output; an error if there are more.
    NDArray one(const Arrays &inputs, const Params &params = {}) const
    {
        std::vector<NDArray> outputs = all(inputs, params);
        if (outputs.size() != 1)
            throw Error(std::string(name_) + ": " + detail::text(outputs.size()) +
                        " outputs; all() returns them");
        return std::move(outputs.front());
    }
    // Writes into existing arrays.
    void into(const Arrays &outputs, const Arrays &inputs, const Params &params = {}) const
    {
        std::vector<NDArrayHandle> given = detail::handles(outputs);
        int count = static_cast<int>(given.size());
        NDArrayHandle *slots = given.data();
        if (given.empty())
            throw Error(std::string(name_) + ": into() needs an array to write to");
        run(inputs, params, count, slots);
    }

    NDArray operator()(const Params &params = {}) const
    {
        return one({}, params);
    }
    NDArray operator()(const NDArray &a, const Params &params = {}) const
    {
        return one({a}, params);
    }
    NDArray operator()(const NDArray &a, const NDArray &b, const Params &params = {}) const
    {
        return one({a, b}, params);
    }
    NDArray operator()(const NDArray &a, const NDArray &b, const NDArray &c,
                       const Params &params = {}) const
    {
        return one({a, b, c}, params);
    }

  private:
    const char *name_;
    mutable std::atomic<OpHandle> handle_{nullptr};

    void run(const Arrays &inputs, const Params &params, int &count, NDArrayHandle *&outputs) const
    {
        OpHandle op = handle_.load(std::memory_order_acquire);
        if (op == nullptr) {
            check(NNGetOpHandle(name_, &op));
            handle_.store(op, std::memory_order_release);
        }
        std::vector<NDArrayHandle> given = detail::handles(inputs);
        std::vector<const char *> keys, values;
        for (const Param &param : params) {
            keys.push_back(param.key.c_str());
            values.push_back(param.value.c_str());
        }
        const int *stypes = nullptr;
        check(MXImperativeInvokeEx(op, static_cast<int>(given.size()), given.data(), &count,
                                   &outputs, static_cast<int>(keys.size()), keys.data(),
                                   values.data(), &stypes));
    }
};

// An operator by a name that is only known at run time.
inline std::vector<NDArray> invoke(const std::string &name, const Arrays &inputs,
                                   const Params &params = {})
{
    return Op(name.c_str()).all(inputs, params);
}

inline std::vector<std::string> operator_names()
{
    uint32_t count = 0;
    const char **names = nullptr;
    check(MXListAllOpNames(&count, &names));
    return {names, names + count};
}

inline NDArray NDArray::copy() const
{
    return Op("_copy")(*this);
}

inline NDArray NDArray::astype(DType dtype) const
{
    static const char *const names[] = {"float32", "float64", "float16", "uint8",
                                        "int32",   "int8",    "int64",   "bool"};
    return Op("Cast")(*this, {{"dtype", names[static_cast<int>(dtype)]}});
}

inline void NDArray::attach_grad(bool add)
{
    NDArray gradient = Op("zeros_like")(*this);
    NDArrayHandle slot = gradient.handle();
    uint32_t request = add ? 3 : 1;
    check(MXAutogradMarkVariables(1, &handle_, &request, &slot));
}

namespace detail
{

// A prepared call: its parameters are parsed once. It is valid as long as the process runs.
inline MXLCallHandle prepared(const char *name, const char *argument = nullptr)
{
    MXLCallHandle call = nullptr;
    check(MXLPrepare(name, 0, nullptr, nullptr, argument != nullptr, &argument, &call));
    return call;
}

} // namespace detail

// x + y, x + 2.0, 2.0 + x, x += y: broadcast; a number keeps the array's dtype.
#define MXLITE_OPERATOR(sign, arrays, right, left)                                                 \
    inline NDArray operator sign(const NDArray &a, const NDArray &b)                               \
    {                                                                                              \
        static const MXLCallHandle call = detail::prepared(arrays);                                \
        return NDArray::own(MXLCall2(call, a.handle(), b.handle()));                               \
    }                                                                                              \
    inline NDArray operator sign(const NDArray &a, double b)                                       \
    {                                                                                              \
        static const MXLCallHandle call = detail::prepared(right, "scalar");                       \
        return NDArray::own(MXLCall1Float(call, a.handle(), b));                                   \
    }                                                                                              \
    inline NDArray operator sign(double a, const NDArray &b)                                       \
    {                                                                                              \
        static const MXLCallHandle call = detail::prepared(left, "scalar");                        \
        return NDArray::own(MXLCall1Float(call, b.handle(), a));                                   \
    }                                                                                              \
    inline NDArray &operator sign## = (NDArray & a, const NDArray &b)                              \
    {                                                                                              \
        static const Op op(arrays);                                                                \
        op.into({a}, {a, b});                                                                      \
        return a;                                                                                  \
    }
MXLITE_OPERATOR(+, "broadcast_add", "_plus_scalar", "_plus_scalar")
MXLITE_OPERATOR(-, "broadcast_sub", "_minus_scalar", "_rminus_scalar")
MXLITE_OPERATOR(*, "broadcast_mul", "_mul_scalar", "_mul_scalar")
MXLITE_OPERATOR(/, "broadcast_div", "_div_scalar", "_rdiv_scalar")
#undef MXLITE_OPERATOR

inline NDArray operator-(const NDArray &a)
{
    static const MXLCallHandle call = detail::prepared("negative");
    return NDArray::own(MXLCall1(call, a.handle()));
}

// ---- autograd ----

namespace autograd
{

inline bool is_recording()
{
    bool now = false;
    check(MXAutogradIsRecording(&now));
    return now;
}

inline bool is_training()
{
    bool now = false;
    check(MXAutogradIsTraining(&now));
    return now;
}

// Sets the thread's recording and training flags; the destructor restores them.
class Scope
{
  public:
    Scope(bool record, bool train)
    {
        check(MXAutogradSetIsRecording(record, &recorded_));
        check(MXAutogradSetIsTraining(train, &trained_));
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope()
    {
        int ignored = 0;
        MXAutogradSetIsRecording(recorded_, &ignored);
        MXAutogradSetIsTraining(trained_, &ignored);
    }

  private:
    int recorded_ = 0, trained_ = 0;
};

struct RecordScope : Scope {
    explicit RecordScope(bool train = true) : Scope(true, train) {}
};

struct PauseScope : Scope {
    explicit PauseScope(bool train = false) : Scope(false, train) {}
};

struct Options {
    bool retain_graph = false, create_graph = false, train = true;
};

// Gradients of roots (heads) with respect to variables, as new arrays; without variables into the
// gradients of the leaves that the roots reach. head_gradients: empty (ones), or one for each root.
// With create_graph the backward is recorded, so that gradients can be differentiated, and the
// graph is retained.
inline std::vector<NDArray> grad(const Arrays &heads, const Arrays &variables, Options options = {},
                                 const Arrays &head_gradients = {})
{
    auto from = detail::handles(heads), to = detail::handles(variables),
         given = detail::handles(head_gradients);
    NDArrayHandle *gradients = nullptr;
    int *stypes = nullptr;
    if (!given.empty() && given.size() != from.size())
        throw Error("backward: as many head gradients as heads are needed, or none");
    check(MXAutogradBackwardEx(
        static_cast<uint32_t>(from.size()), from.data(), given.empty() ? nullptr : given.data(),
        static_cast<uint32_t>(to.size()), to.data(), options.retain_graph || options.create_graph,
        options.create_graph, options.train, &gradients, &stypes));
    return detail::adopt(to.size(), gradients);
}

inline void backward(const Arrays &heads, const Arrays &head_gradients = {}, Options options = {})
{
    grad(heads, {}, options, head_gradients);
}

} // namespace autograd

// ---- files ----

inline void save(const std::string &path,
                 const std::vector<std::pair<std::string, ArrayRef>> &named)
{
    std::vector<NDArrayHandle> arrays;
    std::vector<const char *> keys;
    for (const auto &each : named) {
        keys.push_back(each.first.c_str());
        arrays.push_back(each.second.handle);
    }
    check(MXNDArraySave(path.c_str(), static_cast<uint32_t>(arrays.size()), arrays.data(),
                        keys.data()));
}

// The arrays of a file that was written with names.
inline std::map<std::string, NDArray> load(const std::string &path)
{
    uint32_t count = 0, name_count = 0;
    NDArrayHandle *lent = nullptr;
    const char **names = nullptr;
    check(MXNDArrayLoad(path.c_str(), &count, &lent, &name_count, &names));
    std::vector<NDArray> arrays = detail::adopt(count, lent);
    if (name_count != count)
        throw Error("load: " + path + " holds arrays without names");
    std::map<std::string, NDArray> all;
    for (uint32_t i = 0; i < count; i++)
        all[names[i]] = std::move(arrays[i]);
    return all;
}

inline void seed(int value)
{
    check(MXRandomSeed(value));
}

} // namespace mxlite

#endif // MXLITE_MXLITE_HPP_
