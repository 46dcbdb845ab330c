// Writes ops.hpp: a function object for every operator of the library, in namespace mxlite::op,
// with its inputs and parameters as a comment. Called by the build: make_ops > ops.hpp
#include "mxlite/mxlite.hpp"

#include <algorithm>
#include <cstdio>

// The name of an operator as C++ writes it: with a _ at its end where it is a keyword.
static std::string identifier(const std::string &name)
{
    // clang-format off
    static const char *const keywords[] = {
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
        "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
        "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete",
        "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
        "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
        "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
        "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
        "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
        "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};
    // clang-format on
    return std::count(std::begin(keywords), std::end(keywords), name) != 0 ? name + "_" : name;
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
