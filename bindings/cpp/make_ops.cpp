// Writes ops.hpp: a function object for every operator of the library, in namespace mxlite::op,
// with its inputs and parameters as a comment. Called by the build: make_ops > ops.hpp
#include "mxlite/mxlite.hpp"

#include <algorithm>
#include <cstdio>

// Names that C++ has taken, were an operator to be called so: it gets a _ at its end.
static std::string identifier(const std::string &name)
{
    static const char *const taken[] = {"and", "or", "not", "xor", "switch", "default", "delete"};
    return std::count(std::begin(taken), std::end(taken), name) != 0 ? name + "_" : name;
}

// "data: NDArray-or-Symbol; axis: int, optional, default='-1'"
static std::string signature(const std::string &name)
{
    OpHandle op = nullptr;
    const char *first, *about, **names, **types, **about_each, *counted;
    uint32_t count = 0;
    std::string line;

    mxlite::check(NNGetOpHandle(name.c_str(), &op));
    mxlite::check(MXSymbolGetAtomicSymbolInfo(op, &first, &about, &count, &names, &types,
                                              &about_each, &counted));
    for (uint32_t i = 0; i < count; i++)
        line += (i != 0 ? "; " : "") + std::string(names[i]) + ": " + types[i];
    return line;
}

int main()
{
    std::puts("// Written by make_ops.\n#pragma once\n#include \"mxlite/mxlite.hpp\"\n\nnamespace "
              "mxlite::op {\n");
    for (const std::string &name : mxlite::operator_names())
        std::printf("// %s\ninline const Op %s(\"%s\");\n", signature(name).c_str(),
                    identifier(name).c_str(), name.c_str());
    std::puts("\n} // namespace mxlite::op");
}
