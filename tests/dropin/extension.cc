// A library of operators that is built against 1.9.1's own lib_api.h; checks/libraries.py loads it.
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "mxnet/lib_api.h"

using namespace mxnet::ext;
using Attrs = std::unordered_map<std::string, std::string>;
using Sizes = std::vector<std::vector<unsigned int>>;
using Tensors = std::vector<MXTensor>;

static std::string text_of(const Attrs &attrs, const std::string &key)
{
    auto found = attrs.find(key);
    return found == attrs.end() ? "" : found->second;
}

template <int In, int Out> MXReturnValue parse(const Attrs &attrs, int *in, int *out)
{
    if (text_of(attrs, "fails") == "parse") {
        MX_ERROR_MSG << "the attributes make no sense";
        return MX_FAIL;
    }
    *in = In;
    *out = Out;
    return MX_SUCCESS;
}

static MXReturnValue types(const Attrs &, std::vector<int> *in, std::vector<int> *out)
{
    if ((*in)[0] != kFloat32) {
        MX_ERROR_MSG << "dtype " << (*in)[0] << " is not float32";
        return MX_FAIL;
    }
    for (auto &each : *in)
        each = kFloat32;
    for (auto &each : *out)
        each = kFloat32;
    return MX_SUCCESS;
}

static MXReturnValue shapes(const Attrs &attrs, Sizes *in, Sizes *out)
{
    if (text_of(attrs, "fails") == "shapes") {
        MX_ERROR_MSG << "the shapes make no sense";
        return MX_FAIL;
    }
    for (auto &each : *out)
        each = (*in)[0];
    return MX_SUCCESS;
}

static MXReturnValue cube(const Attrs &attrs, Tensors *in, Tensors *out, const OpResource &)
{
    if (text_of(attrs, "fails") == "forward") {
        MX_ERROR_MSG << "forward makes no sense";
        return MX_FAIL;
    }
    if (text_of(attrs, "fails") == "by an exception")
        throw std::runtime_error("forward gives up");
    auto x = (*in)[0].data<float>(), y = (*out)[0].data<float>();
    for (int64_t i = 0; i < (*in)[0].size(); i++)
        y[i] = x[i] * x[i] * x[i];
    return MX_SUCCESS;
}

static MXReturnValue cube_back(const Attrs &attrs, Tensors *in, Tensors *out, const OpResource &)
{
    if (text_of(attrs, "fails") == "backward") {
        MX_ERROR_MSG << "backward makes no sense";
        return MX_FAIL;
    }
    auto dy = (*in)[0].data<float>(), x = (*in)[1].data<float>(), dx = (*out)[0].data<float>();
    for (int64_t i = 0; i < (*in)[1].size(); i++)
        dx[i] = 3 * x[i] * x[i] * dy[i];
    return MX_SUCCESS;
}

static MXReturnValue gemm_shapes(const Attrs &, Sizes *in, Sizes *out)
{
    auto &a = (*in)[0], &b = (*in)[1];
    if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) {
        MX_ERROR_MSG << "these are no factors";
        return MX_FAIL;
    }
    (*out)[0] = {a[0], b[1]};
    return MX_SUCCESS;
}

static float alpha_of(const Attrs &attrs)
{
    auto text = text_of(attrs, "alpha");
    return text.empty() ? 1 : std::stof(text);
}

static MXReturnValue gemm(const Attrs &attrs, Tensors *in, Tensors *out, const OpResource &)
{
    auto &a = (*in)[0], &b = (*in)[1];
    int64_t n = a.shape[0], k = a.shape[1], m = b.shape[1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float sum = 0;
            for (int64_t q = 0; q < k; q++)
                sum += a.data<float>()[i * k + q] * b.data<float>()[q * m + j];
            (*out)[0].data<float>()[i * m + j] = alpha_of(attrs) * sum;
        }
    return MX_SUCCESS;
}

static MXReturnValue gemm_back(const Attrs &attrs, Tensors *in, Tensors *out, const OpResource &)
{
    auto &dy = (*in)[0], &a = (*in)[1], &b = (*in)[2];
    auto da = (*out)[0].data<float>(), db = (*out)[1].data<float>();
    int64_t n = a.shape[0], k = a.shape[1], m = b.shape[1];
    std::fill(da, da + n * k, 0.0f);
    std::fill(db, db + k * m, 0.0f);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t q = 0; q < k; q++) {
                float g = alpha_of(attrs) * dy.data<float>()[i * m + j];
                da[i * k + q] += g * b.data<float>()[q * m + j];
                db[q * m + j] += g * a.data<float>()[i * k + q];
            }
    return MX_SUCCESS;
}

static MXReturnValue pair(const Attrs &, Tensors *in, Tensors *out, const OpResource &resource)
{
    int64_t size = (*in)[0].size();
    auto a = (*in)[0].data<float>(), b = (*in)[1].data<float>();
    auto sum = static_cast<float *>(resource.alloc_cpu(static_cast<int>(size * 4)));
    for (int64_t i = 0; i < size; i++)
        sum[i] = a[i] + b[i];
    for (int64_t i = 0; i < size; i++) {
        (*out)[0].data<float>()[i] = sum[i];
        (*out)[1].data<float>()[i] = a[i] - b[i];
    }
    return MX_SUCCESS;
}

static MXReturnValue pair_back(const Attrs &, Tensors *in, Tensors *out, const OpResource &)
{
    auto g = (*in)[0].data<float>(), h = (*in)[1].data<float>();
    for (int64_t i = 0; i < (*in)[0].size(); i++) {
        (*out)[0].data<float>()[i] = g[i] + h[i];
        (*out)[1].data<float>()[i] = g[i] - h[i];
    }
    return MX_SUCCESS;
}

static MXReturnValue second(const Attrs &, std::vector<int> *indices)
{
    indices->push_back(1);
    return MX_SUCCESS;
}

static MXReturnValue running(const Attrs &, Tensors *in, Tensors *out, const OpResource &)
{
    auto x = (*in)[0].data<float>(), s = (*in)[1].data<float>();
    for (int64_t i = 0; i < (*in)[0].size(); i++) {
        s[i] += x[i];
        (*out)[0].data<float>()[i] = s[i] * x[i];
    }
    return MX_SUCCESS;
}

static MXReturnValue running_back(const Attrs &, Tensors *in, Tensors *out, const OpResource &)
{
    auto dy = (*in)[0].data<float>(), s = (*in)[2].data<float>();
    for (int64_t i = 0; i < (*in)[0].size(); i++)
        (*out)[0].data<float>()[i] = dy[i] * s[i];
    return MX_SUCCESS;
}

class Counter : public CustomStatefulOp
{
  public:
    explicit Counter(int start) : count(start) {}

    MXReturnValue Forward(Tensors *in, Tensors *out, const OpResource &) override
    {
        count++;
        return scale(&(*in)[0], &(*out)[0]);
    }

    MXReturnValue Backward(Tensors *in, Tensors *out, const OpResource &) override
    {
        return scale(&(*in)[0], &(*out)[0]);
    }

  private:
    MXReturnValue scale(MXTensor *from, MXTensor *to)
    {
        for (int64_t i = 0; i < from->size(); i++)
            to->data<float>()[i] = from->data<float>()[i] * static_cast<float>(count);
        return MX_SUCCESS;
    }

    int count;
};

static MXReturnValue make_counter(const Attrs &attrs, const MXContext &, const Sizes &,
                                  const std::vector<int>, CustomStatefulOp **op)
{
    auto start = text_of(attrs, "start");
    if (start == "bad") {
        MX_ERROR_MSG << "start makes no sense";
        return MX_FAIL;
    }
    *op = CustomStatefulOp::create<Counter>(start.empty() ? 0 : std::stoi(start));
    return MX_SUCCESS;
}

static MXReturnValue draws(const Attrs &, Tensors *, Tensors *out, const OpResource &resource)
{
    auto states = resource.get_cpu_rand_states();
    for (int64_t i = 0; i < (*out)[0].size(); i++)
        (*out)[0].data<float>()[i] = static_cast<float>(states[i % 3]() >> 8);
    return MX_SUCCESS;
}

#define COMMON(in, out) setParseAttrs(parse<in, out>).setInferType(types).setInferShape(shapes)

REGISTER_OP(x_cube).setForward(cube, "cpu").setBackward(cube_back, "cpu").COMMON(1, 1);
REGISTER_OP(x_plain).setForward(cube, "cpu").COMMON(1, 1);
REGISTER_OP(x_gpu).setForward(cube, "gpu").COMMON(1, 1);
REGISTER_OP(_x_hidden).setForward(cube, "cpu").COMMON(1, 1);
REGISTER_OP(x_gemm)
    .setForward(gemm, "cpu")
    .setBackward(gemm_back, "cpu")
    .COMMON(2, 1)
    .setInferShape(gemm_shapes);
REGISTER_OP(x_pair).setForward(pair, "cpu").setBackward(pair_back, "cpu").COMMON(2, 2);
REGISTER_OP(x_running)
    .setForward(running, "cpu")
    .setBackward(running_back, "cpu")
    .COMMON(2, 1)
    .setMutateInputs(second);
REGISTER_OP(x_counter).setCreateOpState(make_counter, "cpu").COMMON(1, 1);
REGISTER_OP(x_draws).setForward(draws, "cpu").COMMON(1, 1);

MXReturnValue initialize(int version)
{
#ifdef REFUSES
    MX_ERROR_MSG << "this library wants another MXNet";
    return MX_FAIL;
#endif
    return version == 10901 ? MX_SUCCESS : MX_FAIL;
}
