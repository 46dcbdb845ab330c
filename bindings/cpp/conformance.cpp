// The runner of ../cases.json (../README.md has its format): reads it, runs each case, counts.
#include "conformance.hpp"
#include "mxlite/mxlite.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace mxlite;

namespace
{

// ---- JSON of the plain kind that the file has ----

struct Json {
    std::string text;
    double number = 0;
    std::vector<Json> items;
    std::map<std::string, Json> members;

    const Json &at(const std::string &key) const
    {
        return members.at(key);
    }
    bool has(const std::string &key) const
    {
        return members.count(key) != 0;
    }
};

struct Reader {
    const char *at;

    char next()
    {
        while (*at == ' ' || *at == '\n' || *at == ',' || *at == ':')
            at++;
        return *at;
    }
    std::string string()
    {
        std::string value;
        for (at++; *at != '"'; at++)
            value += *at == '\\' ? *++at : *at;
        at++;
        return value;
    }
    Json value()
    {
        Json json;
        if (char open = next(); open == '"') {
            json.text = string();
            json.number = std::strtod(json.text.c_str(), nullptr); // "nan", "inf", "-inf"
        } else if (open == '[') {
            for (at++; next() != ']';)
                json.items.push_back(value());
            at++;
        } else if (open == '{') {
            for (at++; next() != '}';) {
                std::string key = string();
                json.members[key] = value();
            }
            at++;
        } else {
            char *end = nullptr;
            json.number = std::strtod(at, &end);
            if (end == at)
                throw Error(std::string("cases.json: unexpected ") + *at);
            at = end;
        }
        return json;
    }
};

// ---- arrays ----

std::vector<double> numbers(const Json &json)
{
    std::vector<double> all;
    for (const Json &item : json.items)
        all.push_back(item.number);
    return all;
}

NDArray array_of(const Json &json)
{
    std::vector<double> shape = numbers(json.at("shape")), values = numbers(json.at("values"));
    const std::string &dtype = json.at("dtype").text;
    NDArray array = NDArray::from(values, Shape(shape.begin(), shape.end()));
    return dtype == "float64" ? std::move(array)
                              : array.astype(dtype == "int32" ? DType::i32 : DType::f32);
}

std::string difference(const NDArray &got, const Json &json)
{
    NDArray wanted = array_of(json);
    if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape())
        return "another dtype or shape";
    std::vector<double> a = got.astype(DType::f64).to_vector<double>(),
                        b = numbers(json.at("values"));
    for (size_t i = 0; i < b.size(); i++) {
        bool same = std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i];
        if (!same && !(std::abs(a[i] - b[i]) <=
                       json.at("atol").number + json.at("rtol").number * std::abs(b[i])))
            return "value " + std::to_string(i) + " is " + std::to_string(a[i]) + ", not " +
                   std::to_string(b[i]);
    }
    return "";
}

// ---- cases ----

std::vector<NDArray> arrays_of(const Json &list)
{
    std::vector<NDArray> all;
    for (const Json &item : list.items)
        all.push_back(array_of(item));
    return all;
}

Arrays refs(const std::vector<NDArray> &arrays)
{
    return {arrays.begin(), arrays.end()};
}

// What is wrong; "" if nothing is.
std::string run(const Json &row)
{
    std::vector<NDArray> inputs = arrays_of(row.at("inputs"));
    Params params;
    bool train = row.at("train").number != 0;
    for (const auto &each : row.at("params").members)
        params.emplace_back(each.first, each.second.text);
    if (row.has("error")) {
        try {
            invoke(row.at("op").text, refs(inputs), params);
        } catch (const Error &error) {
            return error.what() == row.at("error").text
                       ? ""
                       : std::string("another message: ") + error.what();
        }
        return "did not fail";
    }
    const Json gradients = row.has("gradients") ? row.at("gradients") : Json();
    for (const Json &each : gradients.items)
        inputs[static_cast<size_t>(each.at("input").number)].attach_grad();
    autograd::Scope scope(!gradients.items.empty(), train);
    std::vector<NDArray> outputs = invoke(row.at("op").text, refs(inputs), params);
    const std::vector<Json> &wanted = row.at("outputs").items;
    if (outputs.size() != wanted.size())
        return "another number of outputs";
    autograd::PauseScope pause(train);
    for (size_t i = 0; i < wanted.size(); i++)
        if (std::string why = difference(outputs[i], wanted[i]); !why.empty())
            return "output " + std::to_string(i) + ": " + why;
    if (gradients.items.empty())
        return "";
    autograd::backward(refs(outputs), refs(arrays_of(row.at("heads"))), {false, false, train});
    for (const Json &each : gradients.items)
        if (std::string why =
                difference(inputs[static_cast<size_t>(each.at("input").number)].grad(), each);
            !why.empty())
            return "gradient of input " + std::to_string(int(each.at("input").number)) + ": " + why;
    return "";
}

} // namespace

Counts run_cases(const std::string &path)
{
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty())
        throw Error(path + ": cannot be read");
    Json json = Reader{text.c_str()}.value();
    Counts counts;
    for (const Json &row : json.at("cases").items) {
        std::string why;
        try {
            why = run(row);
        } catch (const std::exception &error) {
            why = error.what();
        }
        (why.empty() ? counts.passed : counts.failed)++;
        if (!why.empty())
            std::printf("FAIL %s: %s\n", row.at("id").text.c_str(), why.c_str());
    }
    return counts;
}
